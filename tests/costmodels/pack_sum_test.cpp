// The learned model on relations that are known.
#include "xgboost/pack_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/random.h>

namespace tunesmith {
namespace {

using xgboost::PackSum;
using xgboost::Settings;

/// Programs of one to three stores, whose throughput is a sum over the stores: that of a store is the third
/// of its numbers, doubled where the eighth is above a half.
struct Data {
  explicit Data(size_t count, uint64_t seed = 1) {
    const size_t columns = feature_columns().size();
    for (size_t i = 0; i < count; ++i) {
      RandomStream random(seed, i);
      FeatureRows rows;
      rows.columns = columns;
      double throughput = 0.0;
      for (size_t row = 0, n = 1 + random.below(3); row < n; ++row) {
        for (size_t c = 0; c < columns; ++c) rows.values.push_back(static_cast<float>(random.uniform()));
        const std::span<const float> values = rows.row(row);
        throughput += values[2] * (values[7] > 0.5F ? 2.0 : 1.0);
      }
      programs.push_back(std::move(rows));
      throughputs.push_back(throughput / 6.0);
    }
    for (const FeatureRows& rows : programs) pointers.push_back(&rows);
  }
  std::vector<FeatureRows> programs;
  std::vector<double> throughputs;
  std::vector<const FeatureRows*> pointers;
};

void learn(PackSum& model, const Data& data, size_t count) {
  model.learn(std::span(data.pointers).first(count), std::span(data.throughputs).first(count));
}

double pairs_in_order(const std::vector<double>& scores, const std::vector<double>& throughputs) {
  double right = 0.0;
  double pairs = 0.0;
  for (size_t a = 0; a < scores.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      pairs += 1.0;
      if ((scores[a] > scores[b]) == (throughputs[a] > throughputs[b])) right += 1.0;
    }
  }
  return right / pairs;
}

TEST(PackSum, LearnsWhatMakesProgramsFast) {
  const Data data(256);
  const Data unseen(256, 2);
  PackSum model{Settings()};
  EXPECT_EQ(model.predict(unseen.pointers), std::vector<double>(256, 0.0));
  learn(model, data, 256);
  EXPECT_GT(pairs_in_order(model.predict(unseen.pointers), unseen.throughputs), 0.75);
}

TEST(PackSum, WhatIsLearntDoesNotDependOnHowManyComeAtATime) {
  const Data data(200);
  PackSum at_once{Settings()};
  learn(at_once, data, 200);
  PackSum by_and_by{Settings()};
  for (size_t count = 0; count <= 200; count += 10) learn(by_and_by, data, count);
  EXPECT_EQ(at_once.trees(), by_and_by.trees());
  EXPECT_EQ(at_once.predict(data.pointers), by_and_by.predict(data.pointers));
}

TEST(PackSum, ASeedDecidesWhatIsHeldOut) {
  const Data data(128);
  Settings settings;
  settings.seed = 1;
  PackSum one{settings};
  PackSum same{settings};
  settings.seed = 2;
  PackSum other{settings};
  for (PackSum* model : {&one, &same, &other}) learn(*model, data, 128);
  EXPECT_EQ(one.predict(data.pointers), same.predict(data.pointers));
  EXPECT_NE(one.predict(data.pointers), other.predict(data.pointers));
}

TEST(PackSum, AskingForPartsAnswersTheSame) {
  const Data data(128);
  PackSum model{Settings()};
  learn(model, data, 128);
  const std::vector<double> all = model.predict(data.pointers);
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(model.predict(std::span(data.pointers).subspan(i, 1)).front(), all[i]) << i;
}

TEST(PackSum, NumbersThatAreNoneDoNoHarm) {
  Data data(256);
  for (size_t i = 0; i < 256; i += 5) {
    data.programs[i].values[2] = std::numeric_limits<float>::quiet_NaN();
    data.programs[i].values[3] = std::numeric_limits<float>::max();
  }
  PackSum model{Settings()};
  learn(model, data, 256);
  for (const double score : model.predict(data.pointers)) EXPECT_TRUE(std::isfinite(score));
}

TEST(PackSum, FailuresAndEqualTimesAreLearnt) {
  for (const double throughput : {0.0, 1.0}) {
    Data data(128);
    std::ranges::fill(data.throughputs, throughput);
    PackSum model{Settings()};
    learn(model, data, 128);
    for (const double score : model.predict(data.pointers)) EXPECT_TRUE(std::isfinite(score));
  }
}

TEST(PackSum, WhatIsSavedPredictsTheSameWhenLoaded) {
  const Data data(200);
  PackSum model{Settings()};
  EXPECT_EQ(model.save(), "");
  learn(model, data, 200);
  PackSum loaded{Settings()};
  loaded.load(model.save());
  EXPECT_EQ(loaded.predict(data.pointers), model.predict(data.pointers));
}

TEST(PackSum, WhatIsLoadedIsLearntOn) {
  const Data before(256);
  const Data now(64, 3);
  const Data unseen(256, 2);
  PackSum model{Settings()};
  learn(model, before, 256);
  PackSum loaded{Settings()};
  loaded.load(model.save());
  learn(loaded, now, 64);
  PackSum fresh{Settings()};
  learn(fresh, now, 64);
  EXPECT_GT(pairs_in_order(loaded.predict(unseen.pointers), unseen.throughputs),
            pairs_in_order(fresh.predict(unseen.pointers), unseen.throughputs) + 0.02);
}

TEST(PackSum, WhatItHasNotSavedIsRefused) {
  PackSum model{Settings()};
  EXPECT_THROW(model.load("something else"), UserError);
  EXPECT_THROW(model.load("tunesmith pack sum 1 0000000000000000\nother columns"), UserError);
  const Data data(64);
  learn(model, data, 64);
  std::string saved = model.save();
  saved.resize(saved.size() / 2);
  PackSum cut{Settings()};
  EXPECT_THROW(cut.load(saved), UserError);
}

}  // namespace
}  // namespace tunesmith
