// Programs of the space `cuda-tensorcore`, run by the interpreter and the emulated device, on shapes that
// tiles of 16 divide and on others. Both must see mistakes.
#include "tunesmith/space/space.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

Space& space(const std::string& name = "cuda-tensorcore") {
  static PluginRegistry registry;
  static std::map<std::string, std::unique_ptr<Space>> spaces;
  std::unique_ptr<Space>& space = spaces[name];
  if (space == nullptr)
    space =
        std::make_unique<Space>(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(name), registry);
  return *space;
}

/// The space's candidates for a workload, in the order of their draws.
class Draws {
 public:
  explicit Draws(const char* workload, const std::string& name = "cuda-tensorcore")
      : program(std::move(WorkloadLibrary().load(workload).program)),
        space_(space(name)),
        sketches_(space_.generate(program)) {}

  size_t sketches() const { return sketches_.sketches.size(); }
  /// The next candidate that is not refused; null if too many are.
  CandidatePtr next() {
    for (int attempt = 0; attempt < 400; ++attempt) {
      const Trace sketch = sketches_.sketches.front().trace().with_open_decisions();
      auto candidate = space_.materialise(program, sketch, RandomStream(3, draw_++));
      if (candidate) return *candidate;
      refused = candidate.error().message;
      EXPECT_EQ(candidate.error().cause, FailureCause::VerifyLimits) << refused;
    }
    return nullptr;
  }

  Program program;
  std::string refused;

 private:
  const Space& space_;
  SketchSet sketches_;
  uint64_t draw_ = 0;
};

size_t calls_in(const Program& program) {
  return collect<Loop>(program.root(),
                       [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); })
      .size();
}

/// The emulated device's report on a call, which writes the outputs into `arguments`.
std::optional<KernelFault> run(const LoweredProgram& lowered, std::vector<Tensor>& arguments) {
  const auto kernel = space().target().compile(lowered, "k");
  EXPECT_TRUE(kernel) << kernel.error();
  if (!kernel) return KernelFault{};
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel->workspace_bytes) + 64);
  const std::unique_ptr<LoadedKernel> loaded = space().target().load(*kernel);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  return loaded->take_fault();
}

struct Form {
  const char* space;
  const char* workload;
};

// So that tests have the same names everywhere.
void PrintTo(const Form& form, std::ostream* out) { *out << form.space << " " << form.workload; }

class TensorCore : public ::testing::TestWithParam<Form> {};

TEST_P(TensorCore, KeepsTheMeaningOfTheProgram) {
  Draws draws(GetParam().workload, GetParam().space);
  ASSERT_EQ(draws.sketches(), 1U);
  std::vector<Tensor> wanted = test::random_arguments(draws.program);
  interpret(draws.program, wanted);
  for (int i = 0; i < 3; ++i) {
    const CandidatePtr candidate = draws.next();
    ASSERT_NE(candidate, nullptr) << draws.refused;
    const std::string text = candidate->trace.str() + to_string(candidate->lowered.program);
    EXPECT_EQ(calls_in(candidate->lowered.program), 5U) << text;
    EXPECT_EQ(candidate->lowered.workspace_bytes, 0) << text;
    std::vector<Tensor> interpreted = test::random_arguments(draws.program);
    ASSERT_NO_THROW(interpret(candidate->lowered, interpreted)) << text;
    EXPECT_LT(max_error(wanted.back(), interpreted.back()), 1e-3) << text;
    std::vector<Tensor> emulated = test::random_arguments(draws.program);
    const auto fault = run(candidate->lowered, emulated);
    ASSERT_FALSE(fault) << fault->message << text << space().target().source(candidate->lowered, "k").value();
    EXPECT_LT(max_error(wanted.back(), emulated.back()), 1e-3)
        << text << space().target().source(candidate->lowered, "k").value();
  }
}

constexpr const char* kSimple = "cuda-tensorcore";
constexpr const char* kMma = "cuda-tensorcore-mma";

INSTANTIATE_TEST_SUITE_P(
    Workloads, TensorCore,
    ::testing::Values(
        Form{kSimple, "gmm:n=64,m=64,k=64,dtype=f16"}, Form{kSimple, "gmm:n=100,m=72,k=50,dtype=f16"},
        Form{kSimple, "gmm:n=48,m=32,k=80,dtype=bf16"}, Form{kSimple, "gmm:n=32,m=64,k=48,dtype=i8"},
        Form{kSimple, "gmm:n=33,m=20,k=17,dtype=i8"}, Form{kSimple, "gmm:b=3,n=16,m=40,k=32,dtype=f16"},
        Form{kSimple, "dense_bias:n=32,m=48,k=64,dtype=f16"},
        Form{kSimple, "dense_bias_gelu:n=30,m=48,k=40,dtype=bf16"}, Form{kSimple, "gram:n=32,k=48,dtype=f16"},
        Form{kSimple, "gram:b=2,n=19,k=37,dtype=i8"},
        Form{kSimple, "attention_scores:seq=24,heads=3,dim=32,dtype=bf16"},
        Form{kSimple, "conv2d:h=8,w=8,ci=16,co=32,kernel=3,dtype=f16"},
        Form{kSimple, "conv2d:h=7,w=5,ci=3,co=11,kernel=3,stride=2,dtype=bf16"},
        Form{kSimple, "conv2d:h=9,w=9,ci=8,co=24,kernel=3,dilation=2,groups=2,dtype=i8"},
        Form{kSimple, "conv1d:l=29,ci=16,co=16,kernel=5,padding=2,dtype=f16"},
        Form{kSimple, "conv3d:d=3,h=4,w=5,ci=4,co=8,kernel=2,dtype=f16"},
        Form{kSimple, "transposed_conv2d:h=4,w=4,ci=16,co=16,dtype=f16"},
        Form{kSimple, "capsule_conv2d:h=4,w=4,ci=8,co=8,dtype=f16"},
        Form{kSimple, "conv_bias_bn_relu:h=7,w=7,ci=8,co=20,kernel=3,dtype=f16"},
        Form{kMma, "gram:b=2,n=17,k=33,dtype=bf16"}, Form{kMma, "gram:n=32,k=64,dtype=i8"},
        Form{kMma, "gmm_tf32:n=32,m=48,k=40"}, Form{kMma, "gmm_tf32:b=2,n=17,m=23,k=19"},
        Form{kMma, "gmm:n=48,m=40,k=70,dtype=i8"}, Form{kMma, "conv2d:h=6,w=7,ci=8,co=24,kernel=3,dtype=i8"},
        Form{kMma, "attention_scores:seq=32,heads=2,dim=48,dtype=f16"},
        Form{kMma, "conv2d:h=6,w=5,ci=8,co=24,kernel=3,groups=2,dtype=f16"},
        Form{kMma, "transposed_conv2d:h=3,w=4,ci=16,co=8,dtype=bf16"},
        Form{kMma, "gmm:n=64,m=64,k=64,dtype=f16"}, Form{kMma, "gmm:n=100,m=72,k=50,dtype=bf16"},
        Form{kMma, "gmm:b=2,n=17,m=9,k=33,dtype=f16"}),
    [](const auto& one) {
      std::string name = std::string(one.param.space) + "_" + one.param.workload;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST(TensorCoreSpace, LeavesOtherBlocksToTheOtherModules) {
  for (const char* workload : {"gmm:n=32,m=32,k=32", "gmm_tf32:n=16,m=16,k=16", "softmax:m=5,n=75",
                               "depthwise_conv2d:h=8,w=8,c=16,kernel=3,dtype=f16"}) {
    SCOPED_TRACE(workload);
    Draws draws(workload);
    EXPECT_GE(draws.sketches(), 1U);
    const CandidatePtr candidate = draws.next();
    ASSERT_NE(candidate, nullptr) << draws.refused;
    EXPECT_EQ(calls_in(candidate->lowered.program), 0U);
  }
}

// Rows of factors may be padded or swizzled; rows of sums, which the unit stores directly, only padded.
TEST(TensorCoreSpace, SamplesHowRowsLie) {
  Draws draws("gmm:n=64,m=64,k=64,dtype=f16", kMma);
  size_t padded = 0;
  size_t swizzled = 0;
  for (int i = 0; i < 12; ++i) {
    const CandidatePtr candidate = draws.next();
    ASSERT_NE(candidate, nullptr) << draws.refused;
    for (const Allocate* allocate : collect<Allocate>(candidate->lowered.program.root())) {
      const Buffer& buffer = allocate->buffer;
      padded += buffer->strides.empty() ? 0 : 1;
      swizzled += buffer->swizzle.bits > 0 ? 1 : 0;
      EXPECT_TRUE(buffer->dtype == kF16 || buffer->swizzle.bits == 0) << buffer->name;
    }
  }
  EXPECT_GT(padded, 0U);
  EXPECT_GT(swizzled, 0U);
}

// Each barrier is needed: without one, both the interpreter and the emulated device see the early read.
TEST(TensorCoreSpace, MissingBarriersAreSeen) {
  Draws draws("gmm:n=64,m=64,k=64,dtype=f16");
  CandidatePtr candidate = draws.next();
  ASSERT_NE(candidate, nullptr);
  const size_t barriers = collect<Barrier>(candidate->lowered.program.root()).size();
  ASSERT_GE(barriers, 2U);
  for (size_t left_out = 0; left_out < barriers; ++left_out) {
    LoweredProgram lowered;
    lowered.program = candidate->lowered.program.clone();
    Barrier* barrier = collect<Barrier>(lowered.program.root())[left_out];
    Seq& around = *barrier->parent->as<Seq>();
    around.remove(around.index_of(*barrier));
    std::vector<Tensor> arguments = test::random_arguments(lowered.program);
    EXPECT_THAT([&] { interpret(lowered.program, arguments); },
                ::testing::ThrowsMessage<InterpreterError>(
                    AnyOf(HasSubstr("race"), HasSubstr("before anything was written"),
                          HasSubstr("before the store to it is waited for"))));
    const auto fault = run(lowered, arguments);
    ASSERT_TRUE(fault) << "without barrier " << left_out << ":\n" << to_string(lowered.program);
    EXPECT_THAT(fault->message,
                AnyOf(HasSubstr("race"), HasSubstr("uninitialised"), HasSubstr("read_before_wait")));
  }
}

}  // namespace
}  // namespace tunesmith
