#include "verify/step_reference.h"

#include <cstdlib>

#include <fmt/format.h>

#include "tunesmith/network/plan_memory.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/reference.h"
#include "tunesmith/verification/verify_outputs.h"
#include "values.h"

namespace tunesmith::network {
namespace {

int64_t operations_of(const Program& program) {
  int64_t operations = 0;
  for (const Block* block : program.blocks()) {
    int64_t here = 1;
    for (const IterVar& iter : block->iters) here *= iter.extent;
    operations += here;
  }
  return operations;
}

tunesmith::Tensor tensor_of(const BufferNode& buffer, std::span<const std::byte> bytes) {
  return {buffer.dtype, buffer.shape, {bytes.begin(), bytes.end()}};
}

}  // namespace

struct StepReference::Compiled {
  CompiledKernel kernel;
  std::unique_ptr<LoadedKernel> loaded;
};

StepReference::StepReference(const Workload& workload, DataKind data, Target& target,
                             tunesmith_runtime_pool* pool, int64_t max_interpreted)
    : pool_(pool),
      inputs_(workload.program.inputs),
      outputs_(workload.program.outputs),
      question_(question_of(workload.program, data)),
      reference_(reference_program(workload.program, data)) {
  if (operations_of(reference_) <= max_interpreted) return;
  auto kernel = target.compile(lower_for(target, in_fast_order(reference_)), "tunesmith_reference");
  if (!kernel)
    throw EnvironmentError(
        fmt::format("the reference of {} does not compile: {}", workload.name, kernel.error()));
  auto compiled = std::make_shared<Compiled>();
  compiled->kernel = *std::move(kernel);
  compiled->loaded = target.load(compiled->kernel);
  compiled_ = std::move(compiled);
}

void StepReference::run(std::span<tunesmith::Tensor> tensors) const {
  if (!compiled_) {
    interpret(reference_, tensors, {false, false});
    return;
  }
  std::vector<void*> pointers;
  for (tunesmith::Tensor& tensor : tensors) pointers.push_back(tensor.bytes.data());
  const auto bytes = static_cast<size_t>(align_up(compiled_->kernel.workspace_bytes + 1));
  const std::unique_ptr<void, void (*)(void*)> workspace(std::aligned_alloc(kTensorAlignment, bytes),
                                                         std::free);
  if (!workspace) throw EnvironmentError(fmt::format("cannot allocate {} bytes for a reference", bytes));
  compiled_->loaded->entry()(pointers.data(), workspace.get(), tunesmith_runtime_parallel_for, pool_);
  if (const auto fault = compiled_->loaded->take_fault())
    throw EnvironmentError("the reference cannot be run: " + fault->message);
}

DrawnData StepReference::draw(std::span<const std::span<const std::byte>> constants) const {
  return choose_data(question_, [&](std::span<tunesmith::Tensor> tensors) {
    for (size_t i = 0; i < constants.size(); ++i)
      if (constants[i].data() != nullptr) tensors[i] = widened(tensor_of(*inputs_[i], constants[i]));
    run(tensors);
  });
}

std::vector<ResultDifference> StepReference::compare(
    std::span<const std::span<const std::byte>> inputs,
    std::span<const std::span<const std::byte>> results) const {
  std::vector<tunesmith::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) tensors.push_back(widened(tensor_of(*inputs_[i], inputs[i])));
  for (const Buffer& output : reference_.outputs) tensors.push_back(tunesmith::Tensor::like(*output));
  run(tensors);
  std::vector<ResultDifference> differences;
  size_t bound = inputs.size() + outputs_.size();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const tunesmith::Tensor& value = tensors[inputs.size() + i];
    const tunesmith::Tensor* const bounds = question_.has_bound[i] ? &tensors[bound++] : nullptr;
    const OutputDifference found = ExpectedOutput(outputs_[i], value, bounds).compare(results[i].data());
    differences.push_back({found.worst, looseness(value, bounds), found.message});
  }
  return differences;
}

}  // namespace tunesmith::network
