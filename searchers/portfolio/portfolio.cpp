// Alternates between other searchers and favours those that have been improving.
//
// Trials are divided into turns of equal length, counted from the first recorded program; each turn belongs
// to one member. The member depends only on earlier results, so that a resumed run continues unchanged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

class Portfolio final : public Searcher {
 public:
  explicit Portfolio(const Options& options)
      : options_(options),
        ids_(options.get_strings("members")),
        turn_(static_cast<size_t>(options.get_int("turn"))),
        fairness_(static_cast<size_t>(options.get_int("fairness"))) {
    if (ids_.empty()) options_.fail("members", "a portfolio has at least one member");
    if (std::ranges::find(ids_, "portfolio") != ids_.end())
      options_.fail("members", "a portfolio cannot contain itself");
  }

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    make_members(context);
    const size_t left = turn_ - context.history().size() % turn_;
    for (const size_t member : preferred(context.history())) {
      std::vector<CandidatePtr> proposed = members_[member]->propose(context, std::min(n, left));
      if (!proposed.empty()) return proposed;
    }
    return {};
  }

  void observe(SearchContext& context, std::span<const Measured> results) override {
    make_members(context);
    for (const std::shared_ptr<Searcher>& member : members_) member->observe(context, results);
  }

 private:
  void make_members(SearchContext& context) {
    if (!members_.empty()) return;
    std::vector<std::shared_ptr<Searcher>> members;
    for (const std::string& id : ids_) members.push_back(create(context, id));
    members_ = std::move(members);
  }

  std::shared_ptr<Searcher> create(SearchContext& context, const std::string& id) const {
    std::shared_ptr<Searcher> member;
    try {
      member = context.create_searcher(id);
    } catch (const UserError& error) {
      options_.fail("members", error.what());
    }
    if (!member->repeatable())
      options_.fail("members", "'" + id + "' does not propose the same when it is asked again");
    return member;
  }

  /// A member's turns so far.
  struct Account {
    std::optional<size_t> last_turn;
    double gain = 0.0;  // an average over its turns, weighted towards the latest
  };

  /// The members in order of preference: the first has the turn, the others replace it if it proposes
  /// nothing.
  std::vector<size_t> preferred(const MeasuredHistory& history) const {
    std::vector<Account> accounts(ids_.size());
    double best = std::numeric_limits<double>::infinity();
    const size_t turns = history.size() / turn_;
    for (size_t turn = 0; turn < turns; ++turn) {
      const double before = best;
      for (size_t i = turn * turn_; i < (turn + 1) * turn_; ++i)
        best = std::min(best, history.seconds(i).value_or(best));
      Account& account = accounts[order(accounts, turn).front()];
      // The first working program is not credited to any member.
      const double gain = std::isfinite(before) ? std::log(before / best) : 0.0;
      account.gain = 0.5 * (account.gain + gain);
      account.last_turn = turn;
    }
    return order(accounts, turns);
  }

  /// First one turn each. Then by gain; every `fairness_`-th turn, and among equals, the one that has waited
  /// longest.
  std::vector<size_t> order(const std::vector<Account>& accounts, size_t turn) const {
    std::vector<size_t> members(accounts.size());
    for (size_t i = 0; i < members.size(); ++i) members[i] = i;
    const auto waits_longer = [&](size_t a, size_t b) {
      return accounts[a].last_turn < accounts[b].last_turn;
    };
    std::ranges::stable_sort(members, waits_longer);
    const bool fair = turn < accounts.size() || turn % fairness_ == 0;
    if (!fair) {
      std::ranges::stable_sort(members,
                               [&](size_t a, size_t b) { return accounts[a].gain > accounts[b].gain; });
    }
    return members;
  }

  Options options_;
  std::vector<std::string> ids_;
  size_t turn_;
  size_t fairness_;
  std::vector<std::shared_ptr<Searcher>> members_;
};

}  // namespace

TUNESMITH_PLUGIN(Portfolio, PluginKind::Searcher, "portfolio", "0.1.0",
                 "run other searchers in turn, favouring those that improve",
                 OptionSpec::strings("members", {"evolutionary", "droplet"}, {},
                                     "searchers, each with its default options"),
                 OptionSpec::integer("turn", 32, 1, 65536, "trials of a turn"),
                 OptionSpec::integer("fairness", 4, 1, 1000,
                                     "every so many turns one goes to the member that has waited longest"));
