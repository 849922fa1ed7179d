// A product of f16 by a trace that was written by hand: tiles of 128x128x32 in four stages, four warps of
// 64x64.
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/performance/grid_work.h"
#include "tunesmith/space/space.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

Space& mma_space() {
  static PluginRegistry registry;
  static Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda-tensorcore-mma"),
                     registry);
  return space;
}

enum class Rows : uint8_t { Padded, Swizzled, Plain };

CandidatePtr by_hand(const Program& program, Rows rows = Rows::Padded) {
  std::stringstream file;
  file << std::ifstream(TUNESMITH_SOURCE_DIR "/tests/targets_tensor_core/traces/hgemm_128x128x32.trace")
              .rdbuf();
  std::string text = file.str();
  for (const char* block : {"b3", "b5"}) {
    const std::string padded = fmt::format("storage_align({}, 0, -2, 16, 8)\n", block);
    if (rows != Rows::Padded)
      text.replace(text.find(padded), padded.size(),
                   rows == Rows::Swizzled ? fmt::format("storage_swizzle({}, 0)\n", block) : "");
  }
  auto candidate = mma_space().materialise(program, Trace::parse(text), RandomStream(1, 1));
  EXPECT_TRUE(candidate) << candidate.error().message;
  return candidate ? *candidate : nullptr;
}

class MainLoopOf : public ::testing::TestWithParam<Rows> {};

TEST_P(MainLoopOf, IsRightOnTheEmulatedDevice) {
  const Program program = std::move(WorkloadLibrary().load("gmm:n=128,m=128,k=224,dtype=f16").program);
  const CandidatePtr candidate = by_hand(program, GetParam());
  ASSERT_NE(candidate, nullptr);
  const auto kernel = mma_space().target().compile(candidate->lowered, "k");
  ASSERT_TRUE(kernel) << kernel.error();
  std::vector<Tensor> arguments = test::random_arguments(program);
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  const std::unique_ptr<LoadedKernel> loaded = mma_space().target().load(*kernel);
  loaded->entry()(pointers.data(), nullptr, nullptr, nullptr);
  const auto fault = loaded->take_fault();
  ASSERT_FALSE(fault) << fault->message;
  std::vector<Tensor> wanted = arguments;
  interpret(program, wanted);
  EXPECT_LT(max_error(wanted.back(), arguments.back()), 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Rows, MainLoopOf, ::testing::Values(Rows::Padded, Rows::Swizzled, Rows::Plain));

int64_t shared_bytes(const Candidate& candidate) {
  int64_t bytes = 0;
  for (const Allocate* allocate : collect<Allocate>(candidate.lowered.program.root())) {
    if (allocate->offset) bytes = std::max(bytes, *allocate->offset + allocate->buffer->bytes());
  }
  return bytes;
}

double wavefronts(const Candidate& candidate) {
  const Target& target = mma_space().target();
  return grid_work(candidate.lowered.program, *lockstep_machine(target.execution(), target.device()))
      .at(0)
      .wavefronts;
}

// Rows have 64 and 256 bytes.
TEST(MainLoop, SwizzledRowsTakeFewerWavefrontsThanPaddedOnesInLessMemory) {
  const Program program = std::move(WorkloadLibrary().load("gmm:n=1024,m=1024,k=1024,dtype=f16").program);
  const CandidatePtr padded = by_hand(program);
  const CandidatePtr swizzled = by_hand(program, Rows::Swizzled);
  const CandidatePtr plain = by_hand(program, Rows::Plain);
  ASSERT_TRUE(padded && swizzled && plain);
  // The sums, staged in rows of 132, need more than the operands' 4 * (128 * 32 + 32 * 128) * 2.
  EXPECT_EQ(shared_bytes(*swizzled), (127 * 132 + 128) * 4);
  EXPECT_LT(shared_bytes(*swizzled), shared_bytes(*padded));
  EXPECT_LT(wavefronts(*swizzled), wavefronts(*padded));
  EXPECT_GT(wavefronts(*plain), 2 * wavefronts(*swizzled));
  // Variables that steps of the loop change are not arguments of a swizzle.
  const std::string text = mma_space().target().source(swizzled->lowered, "k").value();
  for (const char* part : {" ^ swizzled<2, 3, 6>(r_0_1 * 16)] + r_0_0_in_4_1 * 4096 + (ax0_0 * 512));",
                           "^ swizzled<3, 3, 7>(ax1_0_1 * 16)] + r_0_0_in_4_1 * 4096 + (r_0_1 * 2048));"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(MainLoop, HasAddressesThatAreComputedOnce) {
  const Program program = std::move(WorkloadLibrary().load("gmm:n=1024,m=1024,k=1024,dtype=f16").program);
  const CandidatePtr candidate = by_hand(program);
  ASSERT_NE(candidate, nullptr);
  // Sums are staged where the operands were: 4 * (128 * 40 + 32 * 136) elements, and not 64 KB more.
  EXPECT_LE(shared_bytes(*candidate), 4 * (128 * 40 + 32 * 136) * 2);
  EXPECT_GE(shared_bytes(*candidate), 128 * 128 * 4);
  const std::string text = mma_space().target().source(candidate->lowered, "k").value();
  for (const char* part : {"cp_async_wait<2>();", "r_0_0_in_4 = r_0_0_in_4_1;",
                           "r_0_0_in_4_1 == 3 ? 0 :", "+ r_0_0_in_4_1 * 5120 + (r_0_1 * 16 + ax0_0 * 640));"})
    EXPECT_THAT(text, HasSubstr(part));
}

}  // namespace
}  // namespace tunesmith
