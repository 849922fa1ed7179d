#include <fstream>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

using testing::make_lowered;
using testing::make_store;
using testing::make_target;

LoweredProgram store_number(double number) {
  const Buffer out = make_buffer("out", kF32, {1});
  return make_lowered({}, {out}, make_store(out, 0, float_imm(number, kF32)));
}

float run(const LoadedKernel& kernel) {
  float result = 0;
  void* const buffers[] = {&result};
  kernel.entry()(buffers, nullptr, nullptr, nullptr);
  return result;
}

int64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4;
}

TEST(Loader, KeepsKernelsOfOneNameApart) {
  const auto target = make_target();
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(target->load(*target->compile(store_number(i), "kernel")));
  kernels.erase(kernels.begin(), kernels.begin() + 5);
  for (int i = 5; i < 20; ++i) EXPECT_EQ(run(*kernels[static_cast<size_t>(i - 5)]), static_cast<float>(i));
}

TEST(Loader, KernelsOutliveTheirTarget) {
  auto target = make_target();
  const auto kernel = target->load(*target->compile(store_number(3), "kernel"));
  target.reset();
  EXPECT_EQ(run(*kernel), 3.0F);
}

TEST(Loader, RefusesAnotherSymbol) {
  const auto target = make_target();
  CompiledKernel compiled = *target->compile(store_number(1), "kernel");
  compiled.symbol = "other";
  EXPECT_THROW(target->load(compiled), EnvironmentError);
}

TEST(Loader, RefusesDamagedObjects) {
  const auto target = make_target();
  const CompiledKernel compiled = *target->compile(store_number(1), "kernel");
  for (const size_t size : {size_t{0}, size_t{3}, size_t{16}, size_t{64}, compiled.object.size() / 2}) {
    CompiledKernel truncated = compiled;
    truncated.object.resize(size);
    EXPECT_THROW(target->load(truncated), EnvironmentError) << size;
  }
  CompiledKernel text = compiled;
  text.object = "not an object at all";
  EXPECT_THROW(target->load(text), EnvironmentError);
  // The loader still works.
  EXPECT_EQ(run(*target->load(compiled)), 1.0F);
}

TEST(Loader, DoesNotGrowOverManyKernels) {
  const auto target = make_target();
  const CompiledKernel compiled = *target->compile(store_number(1), "kernel");
  for (int i = 0; i < 500; ++i) target->load(compiled);
  const int64_t before = resident_kilobytes();
  for (int i = 0; i < 2000; ++i) target->load(compiled);
  EXPECT_LT(resident_kilobytes() - before, 4096) << "KiB over 2000 kernels";
}

TEST(Compiler, DoesNotGrowOverManyKernels) {
  const auto target = make_target();
  const LoweredProgram lowered = testing::gmm_tile_program(64, 64, 64, 4, 8, 4);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(target->compile(lowered, "kernel"));
  const int64_t before = resident_kilobytes();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(target->compile(lowered, "kernel"));
  EXPECT_LT(resident_kilobytes() - before, 4096) << "KiB over 200 kernels";
}

}  // namespace
}  // namespace tunesmith
