// The learned model on relations that are known.
#include "xgboost/pack_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/search/score_quality.h>
#include <tunesmith/support/error.h>

#include "programs.h"

namespace tunesmith {
namespace {

using test::Programs;
using xgboost::PackSum;
using xgboost::Sample;
using xgboost::Settings;

constexpr int kTrees = 100;

PackSum learned_from(const std::vector<Sample>& samples, Settings settings = {}) {
  PackSum model(settings);
  model.grow(samples, {}, kTrees);
  return model;
}

double quality(const PackSum& model, const Programs& programs) {
  return pairs_in_order(model.predict(programs.pointers), programs.throughputs());
}

TEST(PackSum, OrdersByTheEstimateBeforeItHasLearnt) {
  const Programs programs(64);
  const std::vector<double> scores = PackSum{Settings()}.predict(programs.pointers);
  const analytical::Machine machine = analytical::machine_from(DeviceModel());
  for (size_t i = 0; i < 64; ++i)
    EXPECT_NEAR(scores[i], -std::log(analytical::estimate_cycles(programs.all[i], machine)), 1e-6);
}

TEST(PackSum, LearnsWhereTheEstimateIsWrong) {
  const Programs programs(512);
  const Programs unseen(256, 2);
  const double before = quality(PackSum{Settings()}, unseen);
  const double after = quality(learned_from(programs.samples(512)), unseen);
  EXPECT_GT(after, 0.9);
  EXPECT_GT(after, before + 0.05);
}

TEST(PackSum, AFactorOfAWholeTaskIsNothingToLearn) {
  const Programs one(256);
  const Programs other(256, 3, 1e-3);  // times at another scale, as from another machine or computation
  std::vector<Sample> both = one.samples(256);
  const std::vector<Sample> more = other.samples(256, 1);
  both.insert(both.end(), more.begin(), more.end());
  const Programs unseen(256, 2);
  EXPECT_GT(quality(learned_from(both), unseen), 0.85);
}

TEST(PackSum, ASeedDecidesWhatTreesLookAt) {
  const Programs programs(128);
  Settings settings;
  settings.seed = 1;
  const auto scores = [&] {
    return learned_from(programs.samples(128), settings).predict(programs.pointers);
  };
  const std::vector<double> one = scores();
  EXPECT_EQ(scores(), one);
  settings.seed = 2;
  EXPECT_NE(scores(), one);
}

TEST(PackSum, AskingForPartsAnswersTheSame) {
  const Programs programs(128);
  const PackSum model = learned_from(programs.samples(128));
  const std::vector<double> all = model.predict(programs.pointers);
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(model.predict(std::span(programs.pointers).subspan(i, 1)).front(), all[i]) << i;
}

TEST(PackSum, ProgramsHeldOutSayWhenToStop) {
  const Programs programs(64);
  const Programs held_out(64, 2);
  std::vector<Sample> noise = held_out.samples(64);
  for (size_t i = 0; i < noise.size(); ++i) noise[i].seconds = 1.0 + static_cast<double>(i * 37 % 64);
  Settings settings;
  settings.early_stopping = 5;
  PackSum model(settings);
  model.grow(programs.samples(64), noise, kTrees);
  EXPECT_LT(model.trees(), kTrees / 2) << "what is learned says nothing of these";
}

TEST(PackSum, NumbersBeyondMeasureDoNoHarm) {
  Programs programs(256);
  for (size_t i = 0; i < 256; i += 5) programs.all[i].values[3] = std::numeric_limits<float>::max();
  const PackSum model = learned_from(programs.samples(256));
  for (const double score : model.predict(programs.pointers)) EXPECT_TRUE(std::isfinite(score));
}

TEST(PackSum, FailuresAndEqualTimesAreLearnt) {
  const Programs programs(128);
  for (const double seconds : {std::numeric_limits<double>::infinity(), 1.0}) {
    std::vector<Sample> samples = programs.samples(128);
    for (Sample& sample : samples) sample.seconds = seconds;
    const PackSum model = learned_from(samples);
    for (const double score : model.predict(programs.pointers)) EXPECT_TRUE(std::isfinite(score));
  }
}

TEST(PackSum, AFailureIsAsSlowAsTheSlowest) {
  const Programs programs(256);
  std::vector<Sample> samples = programs.samples(256);
  std::vector<double> fails;
  for (Sample& sample : samples) {
    const bool failed = sample.rows->row(0)[11] > 70.0F;  // the time does not depend on this column
    if (failed) sample.seconds = std::numeric_limits<double>::infinity();
    fails.push_back(failed ? 0.0 : 1.0);
  }
  EXPECT_GT(pairs_in_order(learned_from(samples).predict(programs.pointers), fails), 0.8);
}

TEST(PackSum, WhatIsSavedPredictsTheSameWhenLoaded) {
  const Programs programs(200);
  EXPECT_EQ(PackSum{Settings()}.save(), "");
  const PackSum model = learned_from(programs.samples(200));
  PackSum loaded{Settings()};
  loaded.load(model.save());
  EXPECT_EQ(loaded.predict(programs.pointers), model.predict(programs.pointers));
}

TEST(PackSum, WhatIsLoadedIsLearntOn) {
  const Programs before(256);
  const Programs now(32, 3);
  const Programs unseen(256, 2);
  PackSum loaded{Settings()};
  loaded.load(learned_from(before.samples(256)).save());
  loaded.grow(now.samples(32), {}, kTrees);
  EXPECT_GT(quality(loaded, unseen), quality(learned_from(now.samples(32)), unseen) + 0.02);
  loaded.forget();
  EXPECT_EQ(loaded.trees(), kTrees) << "what was loaded stays";
}

TEST(PackSum, SaysWhatItGoesBy) {
  const Programs programs(512);
  const std::vector<FeatureImportance> importance = learned_from(programs.samples(512)).importance();
  ASSERT_FALSE(importance.empty());
  EXPECT_EQ(importance.front().feature, feature_columns()[2].name);
  EXPECT_GT(importance.front().share, 0.3);
  double sum = 0.0;
  for (const FeatureImportance& one : importance) sum += one.share;
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

/// The kernel's columns, and one more.
std::vector<FeatureColumn> with_one_more(const std::string& name) {
  std::vector<FeatureColumn> columns = feature_columns();
  columns.push_back({name, "1", "of an extension"});
  return columns;
}

TEST(PackSum, ColumnsOfAnExtensionAreLearntFrom) {
  Programs programs(256);
  for (size_t i = 0; i < 256; ++i) {
    FeatureRows wider;
    wider.columns = programs.all[i].columns + 1;
    const bool slow = RandomStream(7, i).uniform() > 0.5;
    for (size_t row = 0; row < programs.all[i].rows(); ++row) {
      const auto narrow = programs.all[i].row(row);
      wider.values.insert(wider.values.end(), narrow.begin(), narrow.end());
      wider.values.push_back(slow ? 1.0F : 0.0F);
    }
    programs.all[i] = std::move(wider);
    programs.seconds[i] *= slow ? 64.0 : 1.0;
  }
  PackSum model{Settings()};
  model.use_columns(with_one_more("acme_conflicts"));
  model.grow(programs.samples(256), {}, kTrees);
  EXPECT_EQ(model.importance().front().feature, "acme_conflicts");
  EXPECT_GT(pairs_in_order(model.predict(programs.pointers), programs.throughputs()), 0.9);
  PackSum loaded{Settings()};
  loaded.use_columns(with_one_more("acme_conflicts"));
  loaded.load(model.save());
  EXPECT_EQ(loaded.predict(programs.pointers), model.predict(programs.pointers));
}

/// The model's message when it refuses `saved`.
std::string refusal_of(PackSum& model, const std::string& saved) {
  try {
    model.load(saved);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(PackSum, OtherColumnsAreRefusedByName) {
  const Programs programs(64);
  const std::string plain = learned_from(programs.samples(64)).save();
  PackSum wider{Settings()};
  wider.use_columns(with_one_more("acme_conflicts"));
  EXPECT_THAT(refusal_of(wider, plain), testing::HasSubstr("it knows nothing of 'acme_conflicts'"));
  std::vector<FeatureColumn> fewer = feature_columns();
  const std::string gone = fewer.back().name;
  fewer.pop_back();
  PackSum narrower{Settings()};
  narrower.use_columns(fewer);
  EXPECT_THAT(refusal_of(narrower, plain), testing::HasSubstr("it reads '" + gone + "'"));
  std::vector<FeatureColumn> turned = feature_columns();
  std::swap(turned[0], turned[1]);
  PackSum reordered{Settings()};
  reordered.use_columns(turned);
  EXPECT_THAT(refusal_of(reordered, plain), testing::HasSubstr("in another order"));
  PackSum same{Settings()};
  same.use_columns(feature_columns());
  EXPECT_EQ(refusal_of(same, plain), "");
}

// `model show` loads a model without a space.
TEST(PackSum, OneThatIsNotToldTheColumnsTakesThoseOfWhatItLoads) {
  const Programs programs(512);
  PackSum narrow{Settings()};
  std::vector<FeatureColumn> renamed = feature_columns();
  renamed[2].name = "acme_conflicts";
  narrow.use_columns(renamed);
  narrow.grow(programs.samples(512), {}, kTrees);
  PackSum shown{Settings()};
  shown.load(narrow.save());
  EXPECT_EQ(shown.importance().front().feature, "acme_conflicts");
}

TEST(PackSum, RowsOfOtherColumnsAreABug) {
  const Programs programs(8);
  PackSum wider{Settings()};
  wider.use_columns(with_one_more("acme_conflicts"));
  EXPECT_THROW(wider.predict(programs.pointers), InternalError);
  EXPECT_THROW(wider.grow(programs.samples(8), {}, kTrees), InternalError);
}

TEST(PackSum, WhatItHasNotSavedIsRefused) {
  PackSum model{Settings()};
  EXPECT_THROW(model.load("something else"), UserError);
  EXPECT_THROW(model.load("tunesmith pack sum 3 0000000000000000\nof an older version"), UserError);
  EXPECT_THROW(model.load("tunesmith pack sum 4 many\n"), UserError);
  EXPECT_THROW(model.load("tunesmith pack sum 4 4\nfloat_fma\n"), UserError);
  const Programs programs(64);
  std::string saved = learned_from(programs.samples(64)).save();
  saved.resize(saved.size() / 2);
  PackSum cut{Settings()};
  EXPECT_THROW(cut.load(saved), UserError);
}

}  // namespace
}  // namespace tunesmith
