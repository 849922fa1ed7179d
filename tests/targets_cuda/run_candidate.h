// Runs programs through the target and the emulated device.
#pragma once

#include <gtest/gtest.h>

#include "cuda_target.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/workload.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith::cuda::test {

using tunesmith::test::random_arguments;

inline CudaTarget& target() {
  static CudaTarget one(Options::defaults(CudaTarget::specs(), "target 'cuda'"));
  return one;
}

/// `inputs`: "X: {shape: [8], dtype: f32}"; the last statement computes O.
inline Program program_of(const std::string& inputs, const std::string& compute) {
  const std::string text =
      "name: t\nparams: {n: 1}\ninputs: {" + inputs + "}\ncompute: |\n  " + compute + "\noutputs: [O]\n";
  return std::move(WorkloadDefinition::parse(text, "t.yaml").instantiate().program);
}

/// The arguments after a call on random inputs, and the call's fault.
struct Called {
  std::vector<Tensor> arguments;
  std::optional<KernelFault> fault;
};

inline Called call(const LoweredProgram& lowered, const CompiledKernel& kernel) {
  Called called{random_arguments(lowered.program), std::nullopt};
  std::vector<void*> pointers;
  for (Tensor& tensor : called.arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel.workspace_bytes) + 64);
  const std::unique_ptr<LoadedKernel> loaded = target().load(kernel);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  called.fault = loaded->take_fault();
  EXPECT_FALSE(loaded->take_fault().has_value()) << "it is told once";
  return called;
}

inline void expect_right(const Program& program) {
  const LoweredProgram lowered = lower_for(target(), program);
  const auto kernel = target().compile(lowered, "k");
  ASSERT_TRUE(kernel.has_value()) << kernel.error() << target().source(lowered, "k").value();
  const Called called = call(lowered, *kernel);
  ASSERT_FALSE(called.fault.has_value()) << called.fault->message << "\n"
                                         << target().source(lowered, "k").value();
  std::vector<Tensor> expected = called.arguments;
  interpret(program, expected);
  EXPECT_LT(max_error(called.arguments.back(), expected.back()), 1e-4)
      << target().source(lowered, "k").value();
}

}  // namespace tunesmith::cuda::test
