#include "run_kernel.h"

#include <algorithm>
#include <future>
#include <utility>

#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/float_mode_watch.h"
#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith::conformance {
namespace {

constexpr int64_t kAlignment = 64;  // for every buffer (kernel_abi.h)
constexpr std::byte kStale{0xff};   // initial contents of outputs: NaN for floats

/// A buffer that detects accesses behind the bytes and writes before them.
GuardedBuffer guarded(const Tensor& tensor) {
  GuardedBuffer buffer(static_cast<int64_t>(tensor.bytes.size()), kAlignment);
  std::ranges::copy(tensor.bytes, buffer.data());
  return buffer;
}

}  // namespace

KernelRuns::KernelRuns(Target& target, const CompiledKernel& compiled, size_t inputs)
    : compiled_(compiled), inputs_(inputs), kernel_(target.load(compiled)) {
  if (compiled.prepare && kernel_->prepare() == nullptr)
    throw EnvironmentError("it loads without the entry point that prepares");
}

std::vector<Tensor> KernelRuns::run(std::vector<Tensor> arguments) {
  std::vector<GuardedBuffer> memory;
  std::vector<void*> buffers;
  for (const Tensor& tensor : arguments) {
    memory.push_back(guarded(tensor));
    if (memory.size() <= inputs_) memory.back().set_read_only(true);
    buffers.push_back(memory.back().data());
  }
  const GuardedBuffer workspace_memory(compiled_.workspace_bytes, kAlignment);
  void* workspace = compiled_.workspace_bytes > 0 ? workspace_memory.data() : nullptr;
  const GuardedBuffer prepared(compiled_.prepare ? compiled_.prepare->bytes : 0, kAlignment);
  FloatModeWatch float_mode(nullptr);
  if (compiled_.prepare) {
    std::vector<void*> given(buffers.size(), nullptr);
    for (const size_t position : compiled_.prepare->reads) given[position] = buffers[position];
    given.push_back(prepared.data());
    kernel_->prepare()(given.data(), workspace, &tunesmith_runtime_parallel_for, nullptr);
    for (const size_t position : compiled_.prepare->unread) buffers[position] = nullptr;
    buffers.push_back(prepared.data());
  }
  const auto call = [&] {
    for (size_t i = inputs_; i < memory.size(); ++i) std::fill_n(memory[i].data(), memory[i].bytes(), kStale);
    kernel_->entry()(buffers.data(), workspace, &tunesmith_runtime_parallel_for, nullptr);
  };
  // A thread's set-up must work in every thread, not only in the first that calls.
  if (!std::exchange(called_, true)) std::async(std::launch::async, call).get();
  call();
  if (const auto fault = kernel_->take_fault())
    throw EnvironmentError("its device found a mistake: " + fault->message);
  if (float_mode.take_change()) throw EnvironmentError(std::string("it ") + kFloatModeChanged);
  const bool intact = std::ranges::all_of(memory, &GuardedBuffer::check_canary);
  if (!intact || !workspace_memory.check_canary()) throw EnvironmentError("it wrote beyond its buffers");
  for (size_t i = inputs_; i < arguments.size(); ++i)
    std::copy_n(memory[i].data(), memory[i].bytes(), arguments[i].bytes.data());
  return arguments;
}

}  // namespace tunesmith::conformance
