// Cost-model accuracy from records equals that reported by the run.
#include "tunesmith/tuning/model_batches.h"

#include <algorithm>
#include <set>

#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

class ModelBatchesTest : public TunerTest {
 protected:
  ModelBatchesTest() {
    space_ = "cpu";
    options_.trials = 48;
    options_.batch = 16;
  }
};

void expect_equal(const std::vector<ModelBatch>& told, const std::vector<ModelBatch>& recorded) {
  ASSERT_EQ(told.size(), recorded.size());
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].trials, recorded[i].trials) << i;
    EXPECT_EQ(told[i].programs, recorded[i].programs) << i;
    EXPECT_DOUBLE_EQ(told[i].rank_correlation, recorded[i].rank_correlation) << i;
    EXPECT_DOUBLE_EQ(told[i].best_of_eighth, recorded[i].best_of_eighth) << i;
  }
}

TEST_F(ModelBatchesTest, TheRecordsSayWhatTheRunSaid) {
  ReplayingRunner runner(5);
  const TuneResult result = tune_into("r.db", runner);
  const std::vector<Record> recorded = records("r.db");
  EXPECT_EQ(result.model_batches.size(), 3u)
      << "rounds of 8, 16 and 16 behind the plain forms; the one of 6 is too short";
  expect_equal(result.model_batches, model_batches(recorded));
  std::vector<Record> other_order = recorded;
  std::ranges::reverse(other_order);
  EXPECT_EQ(model_batches(other_order).size(), 3u);
}

TEST_F(ModelBatchesTest, EveryCandidateHasItsRoundAndTheScoreBeforeIt) {
  ReplayingRunner runner(5);
  tune_into("r.db", runner);
  int last = 1;
  std::set<double> scores;
  for (const Record& record : records("r.db")) {
    EXPECT_GE(record.round, last) << "rounds follow each other";
    EXPECT_LE(record.round, last + 1);
    last = record.round;
    ASSERT_TRUE(record.score) << "failures have one, too";
    scores.insert(*record.score);
  }
  EXPECT_EQ(last, 5);
  EXPECT_GT(scores.size(), 12u);
  const RecordStore store(folder_ / "r.db");
  for (const Record& record : store.list({.kind = MeasurementKind::Ranking})) {
    EXPECT_EQ(record.round, 0);
    EXPECT_FALSE(record.score);
  }
}

TEST_F(ModelBatchesTest, ARoundThatWasCutIsAPartOfEachRun) {
  ReplayingRunner runner(5);
  options_.trials = 40;  // ends within the third round
  tune_into("r.db", runner);
  options_.trials = 48;
  const TuneResult rest = tune_into("r.db", runner);
  std::set<std::string> runs;
  std::vector<Record> last;
  for (const Record& record : records("r.db")) {
    runs.insert(record.run);
    if (record.candidate >= 40) last.push_back(record);
  }
  EXPECT_EQ(runs.size(), 2u);
  ASSERT_EQ(last.size(), 8u);
  ASSERT_EQ(rest.model_batches.size(), 1u);
  EXPECT_EQ(rest.model_batches[0].programs, 16) << "the run judges the whole round";
  ASSERT_EQ(model_batches(last).size(), 1u);
  EXPECT_EQ(model_batches(last)[0].programs, 8) << "and has measured half of it";
  EXPECT_EQ(model_batches(last)[0].trials, 40);
}

TEST(ModelBatches, WithoutScoresThereAreNone) {
  std::vector<Record> records(20);
  for (Record& record : records) record.round = 1;
  EXPECT_TRUE(model_batches(records).empty());
  for (size_t i = 0; i < 7; ++i) records[i].score = 1.0;
  EXPECT_TRUE(model_batches(records).empty()) << "seven are too few to say";
  records[7].score = 1.0;
  EXPECT_EQ(model_batches(records).size(), 1u);
}

TEST_F(ModelBatchesTest, TheRankingLeavesThePeakItMeasured) {
  ReplayingRunner runner;
  const TuneResult result = tune_into("r.db", runner);
  const std::vector<RecordedRoof> roofs = RecordStore(folder_ / "r.db").roofs();
  ASSERT_EQ(roofs.size(), 1u);
  EXPECT_EQ(roofs[0].quantity, "operations f32");
  EXPECT_EQ(roofs[0], result.peak);
  EXPECT_EQ(roofs[0].per_second, result.peak_beside);
  EXPECT_EQ(roofs[0].target, records("r.db").front().target);
}

}  // namespace
}  // namespace tunesmith
