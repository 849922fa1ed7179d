// Search by a language of decisions (TLM, OSDI 2024): writes programs decision by decision, with the
// probabilities of the best programs of other tasks, from a pre-trained prior, and of this task, from a
// classifier of the measurements. After enough measurements, `evolutionary` continues.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>

#include "proposer.h"

namespace {

using namespace tunesmith;
using language::Proposer;

/// The maximum number of programs that the classifier learns from: the latest.
constexpr size_t kMaxLearned = 256;
/// After this many rounds without a new program, another searcher takes over.
constexpr int kMaxEmptyRounds = 4;

class Language final : public Searcher {
 public:
  explicit Language(const Options& options)
      : options_(options),
        draws_(static_cast<size_t>(options.get_int("draws"))),
        first_round_(static_cast<size_t>(options.get_int("first_round"))),
        random_share_(options.get_double("random_share")),
        likeness_(options.get_double("likeness")),
        learns_(options.get_bool("learn")),
        hand_over_(static_cast<size_t>(options.get_int("hand_over"))) {
    if (!options.get_string("prior").empty()) read_prior();
  }

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    const size_t known = context.history().size();
    if (hand_over_ == 0 || known < hand_over_) {
      size_t wanted = std::min(n, std::max(first_round_, known));
      if (hand_over_ > 0) wanted = std::min(wanted, hand_over_ - known);
      for (int round = 0; round < kMaxEmptyRounds; ++round) {
        std::vector<CandidatePtr> picked = propose_by_language(context, wanted);
        if (!picked.empty()) return picked;
      }
      if (hand_over_ == 0) return {};
    }
    if (next_ == nullptr) {
      next_ = context.create_searcher("evolutionary");
      if (known > 0) next_->observe(context, context.history().since(0));
    }
    return next_->propose(context, n);
  }

  void observe(SearchContext& context, std::span<const Measured> results) override {
    if (next_) next_->observe(context, results);
  }

 private:
  struct Draw {
    CandidatePtr candidate;
    ChosenProgram chosen;
    double value = 0.0;
  };

  void read_prior() {
    const std::filesystem::path file =
        std::filesystem::path(options_.location("prior").file).parent_path() / options_.get_string("prior");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) options_.fail("prior", "there is no file " + file.string());
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    try {
      prior_ = std::make_shared<const Prior>(Prior::load(bytes, file.string()));
    } catch (const UserError& error) {
      options_.fail("prior", error.what());
    }
  }

  std::vector<CandidatePtr> propose_by_language(SearchContext& context, size_t n) {
    if (!proposer_) proposer_.emplace(context, prior_, options_.get_string("prior"));
    const EliteClassifier classifier = learns_ ? learn(context) : EliteClassifier();
    std::vector<Draw> pool = draw(context, classifier);
    for (Draw& one : pool) one.value = classifier.log_odds(one.chosen);
    return pick(pool, n);
  }

  EliteClassifier learn(SearchContext& context) const {
    const MeasuredHistory& history = context.history();
    const std::vector<Measured> known = history.since(history.size() - std::min(history.size(), kMaxLearned));
    std::vector<CandidatePtr> candidates;
    std::vector<ChosenProgram> programs;
    for (const Measured& one : known) {
      std::optional<ChosenProgram> chosen = proposer_->chosen(*one.candidate);
      if (!chosen) continue;
      if (one.timing) chosen->seconds = one.timing->min;
      candidates.push_back(one.candidate);
      programs.push_back(std::move(*chosen));
    }
    if (programs.size() < EliteClassifier::kMinPrograms) return {};
    const std::vector<double> scores = context.score(candidates);
    for (size_t i = 0; i < programs.size(); ++i) programs[i].score = scores[i];
    return EliteClassifier(programs);
  }

  /// Unmeasured programs, without duplicates.
  std::vector<Draw> draw(SearchContext& context, const EliteClassifier& classifier) const {
    constexpr double kTemperatures[] = {0.3, 0.6, 1.0};
    std::vector<SearchContext::Draft> drafts;
    for (size_t i = 0; i < draws_; ++i) {
      RandomStream random = context.next_stream();
      const bool by_space = random.uniform() < random_share_;
      std::optional<Trace> trace;
      if (!by_space) trace = proposer_->draw(classifier, kTemperatures[i % std::size(kTemperatures)], random);
      if (!trace) trace = context.draw(random);
      drafts.push_back({std::move(*trace), random});
    }
    std::unordered_set<uint64_t> met;
    std::vector<CandidatePtr> made = context.materialise(drafts);
    std::erase_if(made, [&](const CandidatePtr& one) {
      return !one || context.is_measured(one->lowered_hash) || !met.insert(one->lowered_hash).second;
    });
    const std::vector<double> scores = context.score(made);
    std::vector<Draw> pool;
    for (size_t i = 0; i < made.size(); ++i) {
      ChosenProgram chosen = proposer_->chosen(*made[i]).value_or(ChosenProgram());
      chosen.score = scores[i];
      std::ranges::sort(chosen.names);
      pool.push_back({std::move(made[i]), std::move(chosen)});
    }
    return pool;
  }

  /// Greedy selection, the best first, for diversity: a program that shares all its choices with a picked one
  /// loses `likeness` times the pool's standard deviation.
  std::vector<CandidatePtr> pick(const std::vector<Draw>& pool, size_t n) const {
    double mean = 0.0;
    double squares = 0.0;
    for (const Draw& one : pool) mean += one.value / static_cast<double>(pool.size());
    for (const Draw& one : pool) squares += std::pow(one.value - mean, 2) / static_cast<double>(pool.size());
    const double penalty = likeness_ * std::sqrt(squares);
    std::vector<double> like(pool.size());  // the maximum likeness to picked programs
    std::vector<bool> taken(pool.size());
    std::vector<CandidatePtr> picked;
    while (picked.size() < std::min(n, pool.size())) {
      size_t best = pool.size();
      for (size_t i = 0; i < pool.size(); ++i) {
        if (taken[i]) continue;
        if (best == pool.size() ||
            pool[i].value - penalty * like[i] > pool[best].value - penalty * like[best])
          best = i;
      }
      taken[best] = true;
      picked.push_back(pool[best].candidate);
      for (size_t i = 0; i < pool.size(); ++i)
        like[i] = std::max(like[i], shared_names(pool[i].chosen, pool[best].chosen));
    }
    return picked;
  }

  static double shared_names(const ChosenProgram& a, const ChosenProgram& b) {
    std::vector<uint32_t> both;
    std::ranges::set_intersection(a.names, b.names, std::back_inserter(both));
    const size_t most = std::max(a.names.size(), b.names.size());
    return most == 0 ? 0.0 : static_cast<double>(both.size()) / static_cast<double>(most);
  }

  Options options_;
  size_t draws_;
  size_t first_round_;
  double random_share_;
  double likeness_;
  bool learns_;
  size_t hand_over_;
  std::shared_ptr<const Prior> prior_;
  std::optional<Proposer> proposer_;
  std::shared_ptr<Searcher> next_;  // the searcher that continues
};

}  // namespace

TUNESMITH_PLUGIN(
    Language, PluginKind::Searcher, "language", "0.1.0",
    "sample programs decision by decision from a prior updated by measurements",
    OptionSpec::string("prior", "",
                       "a file of 'tunesmith prior train', its name relative to the file of spaces; none: "
                       "programs are drawn as the space draws them until something is learned"),
    OptionSpec::integer("draws", 128, 1, 65536, "programs drawn for a round"),
    OptionSpec::integer("first_round", 8, 1, 65536,
                        "proposed at most at a time, or as many as programs are known"),
    OptionSpec::real("random_share", 0.25, 0.0, 1.0, "share of the draws that the space draws"),
    OptionSpec::real("likeness", 0.5, 0.0, 100.0,
                     "what a program loses that is like one picked before, in standard deviations"),
    OptionSpec::boolean("learn", true, "learn from what was measured which choices the best tenth makes"),
    OptionSpec::integer("hand_over", 32, 0, 65536,
                        "programs known, from which on 'evolutionary' proposes; 0: it never does"));
