// A product of f32 by a trace that was written by hand: tiles of 128x128x8 in two stages, 256 threads of 8x8.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/library.h"

namespace tunesmith::cuda {
namespace {

using ::testing::HasSubstr;

CandidatePtr sgemm(const std::string& workload) {
  static PluginRegistry registry;
  static Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  std::stringstream text;
  text << std::ifstream(TUNESMITH_SOURCE_DIR "/tests/targets_cuda/traces/sgemm_128x128x8.trace").rdbuf();
  auto candidate = space.materialise(WorkloadLibrary().load(workload).program, Trace::parse(text.str()),
                                     RandomStream(1, 1));
  EXPECT_TRUE(candidate) << candidate.error().message;
  return candidate ? *candidate : nullptr;
}

TEST(Sgemm, IsRightOnTheEmulatedDevice) {
  const CandidatePtr candidate = sgemm("gmm:n=128,m=256,k=24");
  ASSERT_NE(candidate, nullptr);
  const auto kernel = test::target().compile(candidate->lowered, "k");
  ASSERT_TRUE(kernel) << kernel.error();
  const test::Called called = test::call(candidate->lowered, *kernel);
  ASSERT_FALSE(called.fault) << called.fault->message;
  std::vector<Tensor> wanted = called.arguments;
  interpret(WorkloadLibrary().load("gmm:n=128,m=256,k=24").program, wanted);
  EXPECT_LT(max_error(wanted.back(), called.arguments.back()), 1e-4);
}

TEST(Sgemm, CopiesVectorsAheadAndTransposesOne) {
  const CandidatePtr candidate = sgemm("gmm:n=1024,m=1024,k=1024");
  ASSERT_NE(candidate, nullptr);
  const std::string text = test::target().source(candidate->lowered, "k").value();
  for (const char* part :
       {"cp_async_wait<0>();", "cp_async16(&B_shared[thread_x * 4]",
        "const float4 A_vector_1 = *(const float4*)&A[", "+ 132] = A_vector_1.y;", "float C_local[64];"})
    EXPECT_THAT(text, HasSubstr(part));
}

}  // namespace
}  // namespace tunesmith::cuda
