// What register_tile makes of products whose terms a unit's dot products do not divide, such as those of an
// image's three channels: they are padded.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "semantics/same_results.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

constexpr const char* kCascadeLake =
    "version: 1\nspaces:\n  dots:\n    extends: cpu\n    target: {kind: llvm, mcpu: cascadelake, verify: "
    "true, "
    "with: [\"vnni?\"]}\n";

/// With a zero point around the image, and what follows the sum.
std::string image(int columns) {
  const std::string count = std::to_string(columns);
  return "name: image\ninputs:\n  X: {shape: [9, 9, 3], dtype: u8}\n"
         "  W: {shape: [" +
         count +
         ", 3, 3, 3], dtype: i8, constant: true}\n"
         "  B: {shape: [" +
         count +
         "], dtype: i32}\ncompute: |\n"
         "  P[y<11, x<11, r<3] = inside(X[y - 1, x - 1, r], 7)\n"
         "  C[y<5, x<5, j<" +
         count +
         "] = sum(a<3, b<3, r<3) i32(P[2 * y + a, 2 * x + b, r]) * i32(W[j, r, a, b])\n"
         "  O[y<5, x<5, j<" +
         count + "] = max(C[y, x, j] + B[j], 0)\noutputs: [O]\n";
}

struct Terms {
  const char* name;
  std::string workload;
  bool padded;
};

std::ostream& operator<<(std::ostream& out, const Terms& tested) { return out << tested.name; }

class VectorUnit : public ::testing::TestWithParam<Terms> {};

INSTANTIATE_TEST_SUITE_P(
    All, VectorUnit,
    ::testing::Values(Terms{"image", image(32), true}, Terms{"image_and_columns", image(21), true},
                      Terms{"product", "gmm:n=8,m=32,k=30,dtype=u8,b_dtype=i8,acc=i32", true},
                      Terms{"one_term", "gmm:n=8,m=32,k=1,dtype=u8,b_dtype=i8,acc=i32", false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(VectorUnit, TakesTermsThatItsCallsDoNotDivide) {
  PluginRegistry registry;
  const Space space(SpacesFile::parse(kCascadeLake, "processors.yaml").space("dots"), registry,
                    TargetPresence::NotRequired);
  if (const auto& absent = space.absent_extensions(); !absent.empty()) GTEST_SKIP() << absent.front().str();
  const std::string& text = GetParam().workload;
  const Workload workload = text.find('\n') == std::string::npos
                                ? WorkloadLibrary().load(text)
                                : WorkloadDefinition::parse(text, "w.yaml").instantiate();
  const tunesmith_test::SameResults results(workload.program);
  const SketchSet set = space.generate(workload.program);
  ASSERT_FALSE(set.sketches.empty());
  for (size_t i = 0; i < set.sketches.size(); ++i) {
    const auto candidate = space.materialise(workload.program, set.sketches[i].trace().with_open_decisions(),
                                             RandomStream(3, i));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const std::string trace = (*candidate)->trace.str();
    EXPECT_EQ(trace.find("vnni_dot_16x4") != std::string::npos, GetParam().padded) << trace;
    results.expect_of(**candidate);
  }
}

}  // namespace
}  // namespace tunesmith
