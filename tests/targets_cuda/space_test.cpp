// Programs of the space `cuda`, lowered for the target and run by the interpreter, which finds races.
#include "tunesmith/space/space.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

constexpr uint64_t kDraws = 12;
constexpr uint64_t kMaxDraws = 1000 * kDraws;

bool has_shared_memory(const Program& program) {
  return find_first<Allocate>(program.root(), [](const Allocate& allocate) {
           return allocate.buffer->scope == "shared";
         }) != nullptr;
}

/// The launch that shares memory has 32 to 1024 threads, or any number for 64 results and fewer.
void expect_threads_within_limits(const Program& program, const ExecutionModel& execution) {
  for (const Stmt* launch : launches_of(program, execution)) {
    if (find_first<Barrier>(*launch) == nullptr) continue;
    int64_t threads = 1;
    int64_t all = 1;
    for (const Loop* loop : collect<Loop>(*launch)) {
      if (loop->loop_kind != LoopKind::Bound) continue;
      all *= loop->const_extent();
      if (loop->thread.starts_with("thread")) threads *= loop->const_extent();
    }
    EXPECT_LE(threads, 1024);
    EXPECT_TRUE(threads >= 32 || all <= 64) << to_string(program);
  }
}

struct Form {
  const char* workload;
  size_t sketches;  // as published
  bool tiled;       // its programs copy operands to shared memory
};

class CudaSpace : public ::testing::TestWithParam<Form> {};

TEST_P(CudaSpace, KeepsTheMeaningOfTheProgram) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Program program = std::move(WorkloadLibrary().load(GetParam().workload).program);
  std::vector<Tensor> wanted = test::random_arguments(program);
  interpret(program, wanted);
  const SketchSet set = space.generate(program);
  ASSERT_EQ(set.sketches.size(), GetParam().sketches);
  const Space paper(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda-paper"), registry);
  EXPECT_EQ(paper.generate(program).sketches.size(), GetParam().sketches);
  uint64_t compared = 0;
  std::string refused;
  bool shared = false;
  for (uint64_t draw = 0; draw < kMaxDraws && compared < kDraws; ++draw) {
    const Trace sketch = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
    const auto candidate = space.materialise(program, sketch, RandomStream(7, draw));
    if (!candidate) {
      refused = candidate.error().message;
      EXPECT_EQ(candidate.error().cause, FailureCause::VerifyLimits) << refused;
      continue;
    }
    const LoweredProgram& lowered = (*candidate)->lowered;
    const bool shares = has_shared_memory(lowered.program);
    EXPECT_TRUE(shares || !GetParam().tiled) << to_string(lowered.program);
    shared = shared || shares;
    if (GetParam().tiled) expect_threads_within_limits(lowered.program, space.target().execution());
    std::vector<Tensor> got = test::random_arguments(program);
    ASSERT_NO_THROW(interpret(lowered, got)) << (*candidate)->trace.str() << to_string(lowered.program);
    for (size_t i = program.inputs.size(); i < got.size(); ++i)
      EXPECT_LT(max_error(wanted[i], got[i]), 1e-3)
          << (*candidate)->trace.str() << to_string(lowered.program);
    ++compared;
  }
  EXPECT_EQ(shared, GetParam().tiled || GetParam().sketches > 1);
  EXPECT_EQ(compared, kDraws) << "the last that was refused: " << refused;
}

/// One launch, in which each element of `input` is loaded by one statement.
void expect_read_once(const LoweredProgram& lowered, const ExecutionModel& execution,
                      const std::string& input) {
  EXPECT_EQ(launches_of(lowered.program, execution).size(), 1U) << to_string(lowered.program);
  int loads = 0;
  walk_accesses(lowered.program.root(), [&](const Stmt&, const AccessSite& access) {
    loads += access.load != nullptr && access.buffer->name == input ? 1 : 0;
  });
  EXPECT_EQ(loads, 1) << to_string(lowered.program);
}

class CudaRows : public ::testing::TestWithParam<const char*> {};

// Rows stay in the threads' registers.
TEST_P(CudaRows, AreReadOnceInOneLaunch) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Program program = std::move(WorkloadLibrary().load(GetParam()).program);
  std::vector<Tensor> wanted = test::random_arguments(program);
  interpret(program, wanted);
  const SketchSet set = space.generate(program);
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    const Trace sketch = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
    const auto candidate = space.materialise(program, sketch, RandomStream(7, draw));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const LoweredProgram& lowered = (*candidate)->lowered;
    expect_read_once(lowered, space.target().execution(), program.inputs.front()->name);
    std::vector<Tensor> got = test::random_arguments(program);
    ASSERT_NO_THROW(interpret(lowered, got)) << (*candidate)->trace.str() << to_string(lowered.program);
    for (size_t i = program.inputs.size(); i < got.size(); ++i)
      EXPECT_LT(max_error(wanted[i], got[i]), 1e-3) << to_string(lowered.program);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, CudaRows,
                         ::testing::Values("softmax:m=16,n=128", "softmax:m=3,n=250", "softmax:m=2,n=1000",
                                           "layer_norm:m=8,n=256", "reduce_sum_2d:m=32,n=64",
                                           TUNESMITH_SOURCE_DIR
                                           "/bench/device/cases/softmax_half.yaml:m=4,n=264",
                                           TUNESMITH_SOURCE_DIR
                                           "/bench/device/cases/rms_norm.yaml:m=8,n=512,dtype=f16"),
                         [](const auto& one) { return fmt::format("row{}", one.index); });

// Most tilings have too few threads: a draw that a limit refuses is repeated.
TEST(CudaSpaceDraws, AreThoseThatTheLimitsAllow) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Program program =
      std::move(WorkloadLibrary().load("conv2d:h=28,w=28,ci=16,co=32,kernel=3,padding=1").program);
  const Trace sketch = space.generate(program).sketches.front().trace().with_open_decisions();
  uint64_t refused = 0;
  constexpr uint64_t kSketchDraws = 20;
  for (uint64_t draw = 0; draw < kSketchDraws; ++draw) {
    const auto drawn = space.materialise(program, sketch, RandomStream(3, draw));
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_EQ((*drawn)->lowered_hash,
              (*space.materialise(program, sketch, RandomStream(3, draw)))->lowered_hash);
    // The first draw with fixed decisions is not repeated.
    const auto first = replay(program, sketch, RandomStream(3, draw));
    ASSERT_TRUE(first);
    const auto decided = space.materialise(program, first->trace(), RandomStream(3, draw));
    if (decided) {
      EXPECT_EQ((*decided)->trace, (*drawn)->trace);
    } else {
      EXPECT_EQ(decided.error().cause, FailureCause::VerifyLimits);
      EXPECT_THAT(decided.error().message, ::testing::MatchesRegex("too (few|many) .*|.* needs more .*"));
      EXPECT_THAT(decided.error().detail, ::testing::MatchesRegex("[A-Za-z_]+: [0-9]+, not [0-9]+"));
      ++refused;
    }
  }
  EXPECT_GT(refused, kSketchDraws / 2) << "nothing was to be drawn again";
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, CudaSpace,
    ::testing::Values(
        Form{"gmm:n=32,m=48,k=16", 1, true}, Form{"gmm:n=7,m=11,k=13", 1, true},
        Form{"gmm:b=3,n=8,m=12,k=10", 1, true}, Form{"gmm:n=16,m=16,k=16,dtype=f16", 1, true},
        Form{"conv1d:l=16,ci=4,co=8", 1, true}, Form{"conv2d:h=8,w=8,ci=4,co=8,kernel=3,padding=1", 1, true},
        Form{"conv2d:h=9,w=9,ci=3,co=5,kernel=3,stride=2", 1, true},
        Form{"conv2d:h=6,w=6,ci=4,co=8,kernel=3,groups=2", 1, true},
        Form{"conv2d:h=9,w=9,ci=2,co=4,kernel=3,dilation=2", 1, true},
        Form{"conv3d:d=4,h=5,w=5,ci=2,co=4", 1, true}, Form{"capsule_conv2d:h=4,w=4,ci=2,co=4", 1, true},
        Form{"depthwise_conv2d:h=7,w=7,c=8", 1, true}, Form{"dense_bias_gelu:n=12,m=8,k=10", 1, true},
        Form{"conv_bias_bn_relu:h=6,w=6,ci=3,co=8", 1, true}, Form{"gram:n=13,k=7", 1, true},
        Form{"transposed_conv2d:h=3,w=3,ci=4,co=5", 1, true},
        Form{"attention_scores:seq=6,heads=2,dim=5", 1, true}, Form{"norm:m=9,n=10", 2, false},
        Form{"softmax:m=5,n=75", 4, false}, Form{"layer_norm:m=5,n=75", 4, false},
        Form{"reduce_sum_1d:n=101", 2, false}, Form{"elementwise_chain:n=13,m=11", 1, false},
        Form{"max_pool2d:h=9,w=8,c=3", 1, false}),
    [](const auto& one) {
      std::string name = one.param.workload;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace tunesmith
