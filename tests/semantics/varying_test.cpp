// Programs of the built-in spaces for a range of extents, compared with the program for each value.
#include "varying.h"

#include <gtest/gtest.h>

#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

using tunesmith_test::AtValues;
using tunesmith_test::tried_values;

class VaryingSpaces : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(VaryingSpaces, KeepTheMeaningForEachValue) {
  const auto [space_name, text] = GetParam();
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_name), registry);
  const Workload workload = WorkloadLibrary().load(text);
  std::vector<AtValues> each;
  for (const int64_t value : tried_values(workload.program)) each.emplace_back(workload, std::vector{value});
  const SketchSet set = space.generate(workload.program);
  ASSERT_FALSE(set.sketches.empty());
  int compared = 0;
  for (size_t s = 0; s < set.sketches.size(); ++s) {
    for (uint64_t draw = 0; draw < 3; ++draw) {
      const auto candidate = space.materialise(
          workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(draw, s));
      if (!candidate) {
        EXPECT_EQ(candidate.error().cause, FailureCause::VerifyLimits) << candidate.error().message;
        continue;
      }
      for (const AtValues& at : each) at.expect_interpreted((*candidate)->lowered, workload.program, 1e-3);
      if (HasFailure()) return;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, VaryingSpaces,
    testing::Combine(
        testing::Values("cpu", "cpu-paper"),
        testing::Values("gmm:n=1..37,m=24,k=8", "gmm:n=1..17,m=11,k=13,constant_b=1",
                        "gmm:b=1..5,n=7,m=11,k=13", "dense_bias_gelu:n=1..19,m=8,k=10", "softmax:m=1..9,n=37",
                        "layer_norm:m=1..9,n=37", "elementwise_chain:n=1..13,m=11", "gmm:n=7,m=1..37,k=8",
                        "gmm:b=2,n=7,m=11,k=1..17", "softmax:m=5,n=1..37", "reduce_sum_2d:m=7,n=1..17",
                        "attention_scores:b=2,seq=1..11,heads=2,dim=5", "reduce_sum_2d:m=1..17,n=13",
                        "attention_scores:b=1..3,seq=6,heads=2,dim=5")),
    [](const testing::TestParamInfo<VaryingSpaces::ParamType>& param) {
      std::string name = std::string(std::get<0>(param.param)) + "_" + std::get<1>(param.param);
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace tunesmith
