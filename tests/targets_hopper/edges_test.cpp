// Programs of the space `cuda-hopper` whose boxes reach over the edges of tensors, or are
// copied from padded copies; factors in either order.
#include <fmt/format.h>

#include "hopper_programs.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/workload/workload.h"
#include "twins/grid_twin_finder.h"

namespace tunesmith {
namespace {

using namespace hopper;
using ::testing::HasSubstr;

struct Edged {
  const char* name;
  std::string workload;
  std::vector<std::string> copies;  // parts of their text
  const char* call;
};

class BoxesOverEdges : public ::testing::TestWithParam<Edged> {};

TEST_P(BoxesOverEdges, AreRight) {
  const Program program = WorkloadDefinition::parse(GetParam().workload, "t.yaml").instantiate().program;
  const SketchSet sketches = hopper_space().generate(program);
  const CandidatePtr found = draw(program, sketches.sketches.at(1), "hopper_box");
  ASSERT_NE(found, nullptr);
  SCOPED_TRACE(found->trace.str());
  const std::string text = hopper_space().target().source(found->lowered, "k").value();
  for (const std::string& load : GetParam().copies) EXPECT_THAT(text, HasSubstr(load));
  EXPECT_THAT(found->trace.str(), HasSubstr(GetParam().call));
  expect_right(program, *found);
}

/// A product under these names of its factors' dimensions, with extents i, j, k, in two batches.
std::string product(const char* a, const char* b, const char* extents, const char* type) {
  return fmt::format(
      R"(name: t
params: {{b: 2, {0}}}
inputs: {{A: {{shape: [b, {1}], dtype: {3}}}, B: {{shape: [b, {2}], dtype: {3}}}}}
compute: |
  C[z<b, x<i, y<j] = sum(r<k) f32(A[z, {4}]) * f32(B[z, {5}])
outputs: [C]
)",
      extents, a, b, type, a[0] == 'i' ? "x, r" : "r, x", b[0] == 'k' ? "r, y" : "y, r");
}

/// Scores of two heads.
std::string heads(const char* extents) {
  return fmt::format(
      R"(name: t
params: {{b: 2, {}}}
inputs: {{Q: {{shape: [b, seq, 2, dim], dtype: f16}}, K: {{shape: [b, seq, 2, dim], dtype: f16}}}}
compute: |
  S[z<b, h<2, i<seq, j<seq] = sum(r<dim) f32(Q[z, i, h, r]) * f32(K[z, j, h, r])
outputs: [S]
)",
      extents);
}

INSTANTIATE_TEST_SUITE_P(
    Hopper, BoxesOverEdges,
    ::testing::Values(Edged{"whole_tiles",
                            product("i, k", "k, j", "i: 64, j: 128, k: 128", "f16"),
                            {"tma_load_2d("},
                            "hopper_128_f16"},
                      Edged{"edges",
                            product("i, k", "k, j", "i: 100, j: 136, k: 200", "f16"),
                            {"tma_load_3d("},
                            "hopper_128_f16"},
                      Edged{"boxes_beyond",
                            product("i, k", "k, j", "i: 40, j: 40, k: 72", "bf16"),
                            {"tma_load_3d("},
                            "hopper_128_bf16"},
                      Edged{"odd_rows",
                            product("i, k", "k, j", "i: 67, j: 131, k: 129", "bf16"),
                            {"A_pad_map", "B_pad_map"},
                            "hopper_128_bf16"},
                      Edged{"odd_rows_of_one",
                            product("i, k", "k, j", "i: 70, j: 131, k: 136", "f16"),
                            {"tma_load_3d(", "&A_map", "B_pad_map"},
                            "hopper_128_f16"},
                      Edged{"a_by_steps",
                            product("k, i", "k, j", "i: 72, j: 128, k: 200", "f16"),
                            {"tma_load_3d("},
                            "hopper_128_ka_f16"},
                      Edged{"b_by_columns",
                            product("i, k", "j, k", "i: 64, j: 200, k: 136", "bf16"),
                            {"tma_load_3d("},
                            "hopper_128_bk_bf16"},
                      Edged{"both",
                            product("k, i", "j, k", "i: 136, j: 130, k: 72", "f16"),
                            {"tma_load_3d("},
                            "hopper_128_ka_bk_f16"},
                      Edged{"heads", heads("seq: 100, dim: 72"), {"tma_load_4d("}, "hopper_128_bk_f16"}),
    [](const auto& one) { return std::string(one.param.name); });

/// How a large product is verified: a smaller one with the same schedule, whose edges are cut, too.
TEST(BoxesOverEdgesOf, LargeShapesHaveReducedInstances) {
  for (const auto& [name, copies] : {std::pair{"gmm:n=4000,m=4001,k=4002,dtype=f16", "&A_pad_map"},
                                     std::pair{"gmm:n=4000,m=4008,k=4016,dtype=bf16", "&A_map"}}) {
    const Workload large = WorkloadLibrary().load(name);
    const SketchSet sketches = hopper_space().generate(large.program);
    const CandidatePtr found = draw(large.program, sketches.sketches.at(1), "hopper_box");
    ASSERT_NE(found, nullptr);
    SCOPED_TRACE(found->trace.str());
    const auto twin = GridTwinFinder(large, hopper_space()).find_grid_twin(*found);
    ASSERT_TRUE(twin);
    SCOPED_TRACE(twin->workload->key);
    const std::vector<int64_t>& shape = twin->workload->program.outputs.front()->shape;
    for (const int64_t extent : {shape[1], shape[2]}) {
      EXPECT_LT(extent, 600);
      EXPECT_NE(extent % 64, 0);
    }
    for (const CandidatePtr& one : {found, twin->candidate}) {
      const std::string text = hopper_space().target().source(one->lowered, "k").value();
      EXPECT_THAT(text, HasSubstr(copies));
    }
  }
}

TEST(BoxesOverEdgesOf, MapsHaveNumbersOf32Bits) {
  const std::string huge = product("i, k", "k, j", "i: 81928, j: 136, k: 65544", "f16");
  const Program program = WorkloadDefinition::parse(huge, "t.yaml").instantiate().program;
  const SketchSet sketches = hopper_space().generate(program);
  const CandidatePtr found = draw(program, sketches.sketches.at(1), "hopper_box");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT([&] { hopper_space().target().source(found->lowered, "k"); },
              ::testing::ThrowsMessage<LowerError>(HasSubstr("strides have more than 32 bits")));
}

/// A box has rows that follow one another, each once.
TEST(BoxesOverEdgesOf, OtherRowsAreRefused) {
  const Program program = WorkloadDefinition::parse(R"(name: t
params: {i: 100, j: 136, k: 200}
inputs: {A: {shape: [2*i, k], dtype: f16}, B: {shape: [k, j], dtype: f16}}
compute: |
  C[x<i, y<j] = sum(r<k) f32(A[2*x, r]) * f32(B[r, y])
outputs: [C]
)",
                                                    "t.yaml")
                              .instantiate()
                              .program;
  const SketchSet sketches = hopper_space().generate(program);
  const CandidatePtr found = draw(program, sketches.sketches.at(1), "hopper_box");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT([&] { hopper_space().target().source(found->lowered, "k"); },
              ::testing::ThrowsMessage<LowerError>(HasSubstr("no box of a tensor")));
}

}  // namespace
}  // namespace tunesmith
