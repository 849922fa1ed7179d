#include "tunesmith/proposals/elite_classifier.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

/// Programs with two choices each: 1 and then 12 is fast; the scores are uninformative.
std::vector<ChosenProgram> programs(size_t count) {
  std::vector<ChosenProgram> made;
  for (size_t i = 0; i < count; ++i) {
    RandomStream random(5, i);
    const auto first = static_cast<uint32_t>(random.below(4));
    const auto second = static_cast<uint32_t>(10 + random.below(4));
    const double microseconds =
        (first == 1 ? 1.0 : 2.0) * (second == 12 ? 1.0 : 3.0) + 0.1 * random.uniform();
    ChosenProgram program{{first, second}, random.uniform(), 1e-6 * microseconds};
    if (first == 3) program.seconds = std::nullopt;
    made.push_back(program);
  }
  return made;
}

ChoiceFeatures choice(uint32_t name) {
  ChoiceFeatures features;
  features.names.fill(1000);
  features.names[0] = name;
  return features;
}

TEST(EliteClassifier, TellsTheBestFromTheRestByWhatTheyChose) {
  const EliteClassifier classifier(programs(80));
  ASSERT_TRUE(classifier.has_learned());
  const auto log_odds = [&](uint32_t first, uint32_t second) {
    return classifier.log_odds({{first, second}, 0.5, {}});
  };
  for (const uint32_t first : {0, 2, 3}) EXPECT_GT(log_odds(1, 12), log_odds(first, 12) + 0.5);
  for (const uint32_t second : {10, 11, 13}) EXPECT_GT(log_odds(1, 12), log_odds(1, second) + 0.5);
  const std::vector<ChoiceFeatures> choices = {choice(0), choice(1), choice(2), choice(3)};
  const std::vector<double> each = classifier.log_odds(choices);
  EXPECT_EQ(std::ranges::max_element(each) - each.begin(), 1) << "a failure is no reason to choose it again";
}

TEST(EliteClassifier, IsTheSameForTheSamePrograms) {
  const ChosenProgram asked{{1, 11}, 0.25, {}};
  EXPECT_EQ(EliteClassifier(programs(40)).log_odds(asked), EliteClassifier(programs(40)).log_odds(asked));
}

TEST(EliteClassifier, OrdersByTheScoreAsLongAsItKnowsTooLittle) {
  std::vector<ChosenProgram> few = programs(EliteClassifier::kMinPrograms - 1);
  std::vector<ChosenProgram> failed = programs(80);
  for (ChosenProgram& program : failed) program.seconds = std::nullopt;
  for (const auto& known : {few, failed}) {
    const EliteClassifier classifier(known);
    EXPECT_FALSE(classifier.has_learned());
    EXPECT_GT(classifier.log_odds({{0}, 2.0, {}}), classifier.log_odds({{1}, 1.0, {}}));
  }
}

TEST(EliteClassifier, LearnsWhatAScoreIsWorth) {
  // Higher scores are slower, so the score's weight falls.
  std::vector<ChosenProgram> known;
  for (size_t i = 0; i < 60; ++i) {
    const double score = RandomStream(3, i).uniform();
    known.push_back({{7}, score, 1e-6 * (1.0 + score)});
  }
  const EliteClassifier classifier(known);
  EXPECT_LT(classifier.log_odds({{7}, 0.9, {}}), classifier.log_odds({{7}, 0.1, {}}));
}

}  // namespace
}  // namespace tunesmith
