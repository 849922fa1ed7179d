// Columns of features that an extension adds, from the plugin to the cost model.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/performance/features.h>
#include <tunesmith/plugin/error.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class FeatureColumnsTest : public testing::Test {
 protected:
  FeatureColumnsTest() {
    PluginSearch search;
    search.command_line = {{std::filesystem::path(TEST_LIBRARIES) / "test_columns.pack.json"}};
    registry_ = std::make_unique<PluginRegistry>(search);
  }

  /// The built-in space with these extensions, as `with` lists them.
  std::unique_ptr<Space> space(const std::string& with, const std::string& cost_model = "analytical") {
    const SpacesFile file = SpacesFile::parse("version: 1\nspaces:\n  s: {extends: cpu, target: {with: [" +
                                                  with + "]}, cost_model: {kind: " + cost_model + "}}\n",
                                              "columns.yaml");
    return std::make_unique<Space>(file.space("s"), *registry_);
  }

  CandidatePtr candidate(const Space& space) const {
    const SketchSet set = space.generate(workload_.program);
    auto made = space.materialise(workload_.program, set.sketches.front().trace(), RandomStream(3));
    EXPECT_TRUE(made.has_value());
    return *made;
  }

  Workload workload_ = WorkloadLibrary().load("gmm:n=32,m=32,k=32");
  std::unique_ptr<PluginRegistry> registry_;
};

TEST_F(FeatureColumnsTest, StandBehindTheKernels) {
  const auto plain = space("");
  const auto wider = space("columns");
  EXPECT_TRUE(plain->added_columns().empty());
  ASSERT_EQ(wider->added_columns().size(), 1U);
  EXPECT_EQ(feature_columns_with(wider->added_columns()).size(), feature_columns().size() + 1);
  EXPECT_EQ(wider->added_columns().back().name, "scaled_loops");
  EXPECT_EQ(wider->added_columns().back().unit, "loops");
  const CandidatePtr narrow_one = candidate(*plain);
  const FeatureRows& narrow = features_of(*narrow_one, plain->device());
  const CandidatePtr made = candidate(*wider);
  const FeatureRows& rows = features_of(*made, wider->device());
  ASSERT_EQ(rows.columns, narrow.columns + 1);
  ASSERT_EQ(rows.rows(), narrow.rows());
  for (size_t i = 0; i < rows.rows(); ++i) {
    EXPECT_EQ(rows.row(i).back(), 3.0F * rows.row(i)[feature_index("depth")]);
    EXPECT_TRUE(std::ranges::equal(rows.row(i).first(narrow.columns), narrow.row(i)));
  }
}

TEST_F(FeatureColumnsTest, ANameThatIsTakenIsRefused) {
  EXPECT_THAT(
      [&] { feature_columns_with(space("{columns: {column: depth}}")->added_columns()); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("[P27]"), HasSubstr("column 'depth' already exists"))));
  EXPECT_THAT([&] { space("{columns: {column: \"two words\"}}"); },
              ThrowsMessage<PluginError>(HasSubstr("'two words' is not a column name")));
}

TEST_F(FeatureColumnsTest, ANumberThatIsNoneEndsTheRunWithTheExtensionsName) {
  const auto no_number = space("{columns: {value: nan}}");
  const CandidatePtr made = candidate(*no_number);
  EXPECT_THAT([&] { features_of(*made, no_number->device()); },
              ThrowsMessage<PluginError>(AllOf(HasSubstr("extension 'columns'"), HasSubstr("[P27]"),
                                               HasSubstr("scaled_loops gave nan"))));
  const auto throwing = space("{columns: {value: throws}}");
  const CandidatePtr other = candidate(*throwing);
  EXPECT_THAT(
      [&] { features_of(*other, throwing->device()); },
      ThrowsMessage<PluginError>(AllOf(HasSubstr("extension 'columns'"), HasSubstr("boom in a column"))));
}

/// Learns the candidates' times.
std::string learned_by(CostModel& model, const Space& space, const Workload& workload) {
  model.begin(workload, space.device());
  const SketchSet set = space.generate(workload.program);
  std::vector<Measured> results;
  for (uint64_t i = 0; results.size() < 40 && i < 400; ++i) {
    const Trace trace = set.sketches[i % set.sketches.size()].trace().with_open_decisions();
    auto made = space.materialise(workload.program, trace, RandomStream(i));
    if (made) results.push_back({*made, make_timing({1e-6 * static_cast<double>(1 + i)}), std::nullopt});
  }
  model.update(results);
  return model.save();
}

TEST_F(FeatureColumnsTest, ALearnedModelRefusesWhatWasLearntFromOthers) {
  const auto plain = space("", "xgboost");
  const auto wider = space("columns", "xgboost");
  std::shared_ptr<CostModel> model;
  try {
    model = wider->create_cost_model();
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string saved = learned_by(*model, *wider, workload_);
  ASSERT_THAT(saved, HasSubstr("\nscaled_loops\n"));
  wider->create_cost_model()->load(saved);
  EXPECT_THAT([&] { plain->create_cost_model()->load(saved); },
              ThrowsMessage<UserError>(HasSubstr("it reads 'scaled_loops', which this space does not have")));
  const std::string narrow = learned_by(*plain->create_cost_model(), *plain, workload_);
  EXPECT_THAT(
      [&] { wider->create_cost_model()->load(narrow); },
      ThrowsMessage<UserError>(HasSubstr("it knows nothing of 'scaled_loops', which this space has")));
}

}  // namespace
}  // namespace tunesmith
