#include <fstream>

#include <gmock/gmock.h>

#include "synthetic.h"
#include "temporary_folder.h"
#include "tunesmith/proposals/prior.h"
#include "tunesmith/support/error.h"

namespace tunesmith::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kSeeds = 5;

std::optional<double> measured_microseconds(const Candidate& candidate) { return microseconds(candidate); }

std::vector<uint64_t> hashes_of(const std::vector<CandidatePtr>& candidates) {
  std::vector<uint64_t> hashes;
  for (const CandidatePtr& candidate : candidates) hashes.push_back(candidate->lowered_hash);
  return hashes;
}

/// The machine of `context`, as a prior names it.
std::string machine_of(const SyntheticContext& context) {
  return machine_text(describe_task(context.program(), context.device()).machine);
}

/// A prior trained on the best of many programs of the same task.
Prior learned_of(SyntheticContext& context, const std::string& machine) {
  std::vector<CandidatePtr> made;
  for (uint64_t i = 0; i < 2000; ++i) {
    RandomStream random(99, i);
    const SearchContext::Draft draft{context.draw(random), random};
    made.push_back(context.materialise({&draft, 1}).front());
  }
  std::ranges::sort(made, {}, [](const CandidatePtr& one) { return microseconds(*one); });
  PriorExample example;
  example.task = describe_task(context.program(), context.device());
  for (const Schedule& sketch : context.sketches())
    example.sketches.push_back(sketch.trace().with_open_decisions());
  for (size_t i = 0; i < 40; ++i) {
    const Candidate& one = *made[i];
    const size_t sketch = decisions_of(one).size() == 3 ? 0 : 1;
    example.programs.push_back(
        {sketch, steps_of(std::span(one.points.begin(), one.points.end()), one.trace)});
  }
  return train_prior({&example, 1}, {30, 0.05, 1}, {"made up", {machine}, 1, 40, 1});
}

class LanguageWithPrior : public testing::Test {
 protected:
  /// The searcher with a prior of this machine in its option `prior`.
  std::shared_ptr<Searcher> with_prior(const std::string& machine) {
    SyntheticContext context(1);
    const std::filesystem::path file = folder_ / "mine.prior";
    std::ofstream(file, std::ios::binary) << learned_of(context, machine).save();
    return make_searcher(registry_, "language", {option("prior", {file.string()})});
  }

  PluginRegistry registry_;
  TemporaryFolder folder_;
};

TEST(Language, LearnsWhileItSearches) {
  PluginRegistry registry;
  double language = 0.0;
  double random = 0.0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SyntheticContext one(seed);
    const auto searcher = make_searcher(registry, "language", {option("hand_over", {"0"})});
    language += static_cast<double>(trials_to_optimum(one, *searcher, 16, 2000));
    SyntheticContext other(seed);
    random += static_cast<double>(trials_to_optimum(other, *make_searcher(registry, "random"), 16, 2000));
  }
  EXPECT_LT(language, 0.5 * random);
}

TEST(Language, BelievesTheCostModelUntilItKnowsBetter) {
  PluginRegistry registry;
  SyntheticContext context(3, &measured_microseconds, [](const Candidate& c) { return -microseconds(c); });
  const auto proposed = context.round(*make_searcher(registry, "language"), 4);
  ASSERT_EQ(proposed.size(), 4U);
  for (const CandidatePtr& one : proposed) EXPECT_LE(microseconds(*proposed.front()), microseconds(*one));
}

TEST(Language, HandsOverToTheEvolutionarySearcher) {
  PluginRegistry registry;
  SyntheticContext context(3);
  const auto language = make_searcher(registry, "language", {option("hand_over", {"20"})});
  EXPECT_EQ(context.round(*language, 64).size(), 8U);
  EXPECT_EQ(context.round(*language, 64).size(), 8U);
  EXPECT_EQ(context.round(*language, 64).size(), 4U) << "up to what it hands over at";
  context.begin_round();
  const auto handed = hashes_of(language->propose(context, 16));
  context.begin_round();
  EXPECT_EQ(handed, hashes_of(make_searcher(registry, "evolutionary")->propose(context, 16)));
}

TEST(Language, AnotherObjectThatIsToldTheHistoryProposesTheSame) {
  PluginRegistry registry;
  SyntheticContext context(7);
  const auto first = make_searcher(registry, "language", {option("hand_over", {"0"})});
  for (int round = 0; round < 4; ++round) context.round(*first, 16);
  const auto second = make_searcher(registry, "language", {option("hand_over", {"0"})});
  second->observe(context, context.history().since(0));
  context.begin_round();
  const auto a = hashes_of(first->propose(context, 16));
  context.begin_round();
  EXPECT_EQ(a, hashes_of(second->propose(context, 16)));
}

/// The number of pairs of proposals that share most decisions.
size_t alike(PluginRegistry& registry, const std::string& likeness) {
  SyntheticContext context(3, &measured_microseconds, [](const Candidate& c) { return -microseconds(c); });
  const auto searcher =
      make_searcher(registry, "language", {option("likeness", {likeness}), option("draws", {"2000"})});
  const auto proposed = context.round(*searcher, 8);
  size_t count = 0;
  for (const CandidatePtr& a : proposed) {
    for (const CandidatePtr& b : proposed) {
      const std::vector<Decision> of_a = decisions_of(*a);
      const std::vector<Decision> of_b = decisions_of(*b);
      size_t equal = 0;
      for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) equal += of_a[i] == of_b[i] ? 1U : 0U;
      if (a != b && equal >= 2) ++count;
    }
  }
  return count;
}

TEST(Language, ProposesWhatIsUnlike) {
  PluginRegistry registry;
  EXPECT_LT(2 * alike(registry, "4"), alike(registry, "0"));
}

TEST(Language, ContinuesWhereNothingWorks) {
  PluginRegistry registry;
  SyntheticContext context(3, [](const Candidate&) { return std::optional<double>(); });
  const auto language = make_searcher(registry, "language");
  for (int round = 0; round < 5; ++round) EXPECT_FALSE(context.round(*language, 16).empty());
}

TEST_F(LanguageWithPrior, BeginsWithWhatItKnows) {
  double known = 0.0;
  double drawn = 0.0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SyntheticContext one(seed);
    const auto language = with_prior(machine_of(one));
    for (const CandidatePtr& candidate : one.round(*language, 8)) known += std::log(microseconds(*candidate));
    EXPECT_THAT(one.said(), IsEmpty());
    SyntheticContext other(seed);
    for (const CandidatePtr& candidate : other.round(*make_searcher(registry_, "language"), 8))
      drawn += std::log(microseconds(*candidate));
  }
  EXPECT_LT(known, 0.7 * drawn);
}

TEST_F(LanguageWithPrior, SaysThatItDoesNotKnowTheMachineAndDrawsAsTheSpaceDoes) {
  SyntheticContext context(3);
  const auto proposed = hashes_of(context.round(*with_prior("64 bits of vectors, 3 cores"), 8));
  EXPECT_THAT(context.said(),
              ElementsAre(AllOf(HasSubstr("mine.prior"), HasSubstr("64 bits of vectors, 3 cores"),
                                HasSubstr(machine_of(context)))));
  SyntheticContext without(3);
  EXPECT_EQ(proposed, hashes_of(without.round(*make_searcher(registry_, "language"), 8)));
}

TEST_F(LanguageWithPrior, SaysWhichSketchesItHasNotMet) {
  SyntheticContext context(3);
  const auto language = with_prior(machine_of(context));
  std::vector<Schedule> sketches = two_sketches(context.program());
  sketches.back().sample_categorical({1, 2}, {0.5, 0.5});
  context.set_sketches(std::move(sketches));
  EXPECT_EQ(context.round(*language, 8).size(), 8U);
  EXPECT_THAT(context.said(),
              ElementsAre(AllOf(HasSubstr("'made up'"), HasSubstr("1 of the 2 sketches of this task"))));
}

TEST_F(LanguageWithPrior, RefusesAFileThatIsNoPrior) {
  std::ofstream(folder_ / "some.prior") << "something else\n";
  for (const char* name : {"some.prior", "absent.prior"}) {
    try {
      make_searcher(registry_, "language", {option("prior", {(folder_ / name).string()})});
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_THAT(std::string(error.what()), AllOf(HasSubstr("prior"), HasSubstr(name)));
    }
  }
}

}  // namespace
}  // namespace tunesmith::test
