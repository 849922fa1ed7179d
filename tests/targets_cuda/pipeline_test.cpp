// Loops that fetch ahead with asynchronous copies, and dynamic shared memory, on the emulated device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidates/kernel_library.h"
#include "emulation/emulated_kernel.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/refusal.h"
#include "run_candidate.h"
#include "text/kernel_text.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/performance/grid_work.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::cuda {
namespace {

using namespace test;
using ::testing::HasSubstr;

/// A product in tiles of blocks; in each block, 8 x 8 threads compute a tile each.
struct Product {
  int64_t rows = 16, columns = 16, depth = 40;
  int64_t tile = 16, step = 8;
  int64_t stages = 3;
  int64_t width = 4;  // elements that a thread copies at once
  const char* type = "f32";
  bool swizzled = false;

  Program program() const {
    return program_of(
        fmt::format("A: {{shape: [{}, {}], dtype: {}}}, B: {{shape: [{}, {}], dtype: {}}}", rows, depth, type,
                    depth, columns, type),
        fmt::format("O[i<{}, j<{}] = sum(k<{}) f32(A[i, k]) * f32(B[k, j])", rows, columns, depth));
  }

  Schedule schedule() const {
    Schedule s(program());
    const BlockRV product = s.get_block("O");
    const BlockRV out = s.cache_write(product, 0, "local");
    const std::vector<LoopRV> loops = s.get_loops(product);
    const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, int64_t{8}, tile / 8});
    const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, int64_t{8}, tile / 8});
    const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, step});
    s.reorder({i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]});
    s.reorder({k[0], i[1], j[1]});
    s.reverse_compute_at(out, j[0]);
    const std::vector<LoopRV> written = s.get_loops(out);
    const std::vector<LoopRV> y = s.split(written[written.size() - 2], {int64_t{8}, std::nullopt});
    const std::vector<LoopRV> x = s.split(written.back(), {int64_t{8}, std::nullopt});
    s.reorder({y[0], x[0], y[1], x[1]});
    s.bind(s.fuse({y[0], x[0]}), "thread.x");
    for (const int operand : {0, 1}) {
      const BlockRV copy = s.cache_read(product, operand, "shared");
      if (swizzled) s.storage_swizzle(copy, 0);
      s.compute_at(copy, k[0]);
      const std::vector<LoopRV> own = s.get_loops(copy);
      const LoopRV all = s.fuse({own.end() - 2, own.end()});
      const std::vector<LoopRV> parts = s.split(all, {std::nullopt, int64_t{64}, width});
      s.reorder({parts[1], parts[0], parts[2]});
      s.bind(parts[1], "thread.x");
      if (width > 1) s.vectorize(parts[2]);
    }
    s.bind(i[0], "block.y");
    s.bind(j[0], "block.x");
    s.bind(s.fuse({i[1], j[1]}), "thread.x");
    s.decompose_reduction(product, k[0]);
    if (stages > 0) s.software_pipeline(k[0], stages);
    return s;
  }
};

std::string pipelined_text(const Schedule& s) {
  return target().source(lower_for(target(), s.program()), "k").value();
}

TEST(CudaPipeline, CopiesAsynchronouslyAndCountsItsStages) {
  const Schedule s = Product{}.schedule();
  const std::string text = pipelined_text(s);
  for (const char* part :
       {"cp_async16(&A_shared[", "cp_async_commit();", "cp_async_wait<1>();", "k_0_in_3_1 == 2 ? 0 :"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("% 3"))) << "stages are counted, not divided";
  expect_right(s.program());
}

TEST(CudaPipeline, IsRightForAnyNumberOfStepsAndStages) {
  for (const int64_t steps : {1, 2, 3, 5}) {
    for (const int64_t stages : {2, 3, 4}) {
      SCOPED_TRACE(fmt::format("{} steps, {} stages", steps, stages));
      Product product;
      product.depth = 8 * steps;
      product.stages = stages;
      expect_right(product.schedule().program());
    }
  }
}

TEST(CudaPipeline, FillsUpWithZerosAndCopiesNarrowElementsAtOnce) {
  Product odd{15, 13, 37};
  odd.width = 1;
  EXPECT_THAT(pipelined_text(odd.schedule()), HasSubstr("cp_async4"));
  expect_right(odd.schedule().program());
  Product half;
  half.type = "f16";
  half.width = 8;
  EXPECT_THAT(pipelined_text(half.schedule()), HasSubstr("cp_async16"));
  expect_right(half.schedule().program());
  half.width = 1;
  EXPECT_THAT(pipelined_text(half.schedule()), ::testing::Not(HasSubstr("cp_async16(")));
  expect_right(half.schedule().program());
}

TEST(CudaPipeline, SwizzledRowsAreRightForEveryTypeAndWidth) {
  for (const char* type : {"f32", "f16", "i8"}) {
    for (const int64_t stages : {0, 3}) {
      for (const int64_t width : {1, 4, 16}) {
        SCOPED_TRACE(fmt::format("{}, {} stages, {} at once", type, stages, width));
        Product product{64, 64, 96};
        product.tile = 32;
        product.step = 32;
        product.type = type;
        product.stages = stages;
        product.width = width;
        product.swizzled = true;
        EXPECT_THAT(pipelined_text(product.schedule()), HasSubstr("A_shared[swizzled<"));
        expect_right(product.schedule().program());
      }
    }
  }
}

TEST(CudaPipeline, WaitsWhereTheArchitectureCannotCopyAsynchronously) {
  std::vector<RawOption> written(1);
  written[0].name = "arch";
  written[0].values.emplace_back().text = "sm_75";
  CudaTarget old(Options::validate(CudaTarget::specs(), written, "target 'cuda'"));
  const Schedule s = Product{}.schedule();
  const std::string text = old.source(lower_for(old, s.program()), "k").value();
  EXPECT_THAT(text, ::testing::Not(HasSubstr("cp_async")));
  EXPECT_THAT(text, HasSubstr("k_0_in_3"));
}

/// The emulation's report on the text, which is one kernel of A, B and O.
EmulationReport emulated(const std::string& text, const Schedule& s, ThreadOrder order,
                         std::vector<unsigned char>* output = nullptr) {
  const LoweredProgram lowered = lower_for(target(), s.program());
  const Launch launch = kernel_texts(lowered, target().execution(), 49152, "k").at(0).launch;
  EmulationOptions options;
  options.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  EmulatedKernel kernel(text, "k", "k.cu", options);
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  std::vector<EmulatedArgument> arguments;
  for (const Tensor& tensor : random_arguments(lowered.program)) {
    const auto* begin = reinterpret_cast<const unsigned char*>(tensor.bytes.data());
    arguments.push_back({"x", EmulatedArgument::Kind::Buffer, {begin, begin + tensor.bytes.size()}, {}});
  }
  EmulationReport report = kernel.run(launch, arguments, {.order = order});
  if (output != nullptr) *output = arguments.back().bytes;
  return report;
}

TEST(CudaPipeline, TheEmulationSeesEachCommitWaitAndBarrierThatIsMissing) {
  for (const int64_t stages : {2, 3, 4}) {
    Product product;
    product.stages = stages;
    const Schedule s = product.schedule();
    const std::string text = pipelined_text(s);
    EXPECT_TRUE(emulated(text, s, ThreadOrder::Forward).clean());
    const std::string wait = fmt::format("cp_async_wait<{}>();", stages - 2);
    const auto without = [&](const std::string& part, size_t count, const std::string& instead = "") {
      std::string wrong = text;
      size_t at = 0;
      for (size_t i = 0; i <= count; ++i) at = wrong.find(part, at + (i > 0 ? 1 : 0));
      ASSERT_NE(at, std::string::npos) << part << count;
      wrong.replace(at, part.size(), instead);
      bool seen = false;
      for (const ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Backward, ThreadOrder::Random})
        seen = seen || !emulated(wrong, s, order).clean();
      EXPECT_TRUE(seen) << "without " << part << " " << count << ", " << stages << " stages";
    };
    without(wait, 0);
    without(wait, 0, fmt::format("cp_async_wait<{}>();", stages - 1));
    without("__syncthreads();", 0);
    // The last commit belongs to the loop.
    without("cp_async_commit();", static_cast<size_t>(stages - 1));
  }
}

TEST(CudaPipeline, ASwizzleOnOneSideOnlyGivesWrongResults) {
  Product product{32, 32, 64};
  product.tile = product.step = 32;
  product.swizzled = true;
  const Schedule s = product.schedule();
  const std::string text = pipelined_text(s);
  std::vector<unsigned char> right;
  EXPECT_TRUE(emulated(text, s, ThreadOrder::Forward, &right).clean());
  const std::string call = "shared[swizzled<";
  size_t calls = 0;
  for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1), ++calls) {
    std::string wrong = text;
    wrong.replace(at + call.size(), wrong.find('>', at) - at - call.size(), "0, 0, 0");
    std::vector<unsigned char> output;
    emulated(wrong, s, ThreadOrder::Forward, &output);
    EXPECT_NE(output, right) << wrong;
  }
  EXPECT_GE(calls, 4u) << text;
}

/// Needs more shared memory than may be declared statically.
Product large() {
  Product product{64, 64, 64};
  product.tile = 64;
  product.step = 32;
  product.stages = 2;
  return product;
}

TEST(CudaPipeline, LaunchesGiveWhatMayNotBeDeclared) {
  Product product = large();
  product.depth = 128;
  product.stages = 4;
  const Schedule s = product.schedule();
  const LoweredProgram lowered = lower_for(target(), s.program());
  const std::vector<KernelText> kernels = kernel_texts(lowered, target().execution(), 49152, "k");
  EXPECT_EQ(kernels.at(0).launch.dynamic_shared_bytes, 4u * 2 * 64 * 32 * 4);
  EXPECT_THAT(kernels.at(0).text, HasSubstr("extern __shared__ __align__(128) char shared_memory[];"));
  EXPECT_THAT(kernels.at(0).text, HasSubstr("= (float*)(shared_memory + "));
  expect_right(s.program());
  EXPECT_EQ(kernel_texts(lower_for(target(), large().schedule().program()), target().execution(), 49152, "k")
                .at(0)
                .launch.dynamic_shared_bytes,
            0u);
  if (const Nvrtc* const nvrtc = Nvrtc::find()) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const Compilation compilation =
          KernelCompiler(*nvrtc).compile(program_text(kernels), "k.cu", architecture);
      const auto refusal = refuse(compilation, "k", find_architecture(architecture), kernels.at(0).launch);
      EXPECT_FALSE(refusal.has_value()) << refusal->text << compilation.log;
    }
  }
}

TEST(CudaPipeline, CapacityIsTheArchitectures) {
  Product product = large();
  product.depth = 32 * 12;
  product.stages = 11;
  EXPECT_THAT([&] { lower_for(target(), product.schedule().program()); },
              ::testing::ThrowsMessage<LowerError>(HasSubstr("of at most 166912")));
}

TEST(CudaPipeline, TheModelSeesLatencyThatStagesHide) {
  const auto seconds = [](int64_t stages) {
    Product product{16, 16, 512};
    product.stages = stages;
    return grid_seconds(lower_for(target(), product.schedule().program()).program, target().execution(),
                        target().device());
  };
  EXPECT_GT(seconds(0), 1.1 * seconds(2));
  EXPECT_LT(seconds(4), 1.01 * seconds(2)) << "there is nothing left to hide";
}

}  // namespace
}  // namespace tunesmith::cuda
