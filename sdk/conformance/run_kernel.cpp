#include "run_kernel.h"

#include <algorithm>
#include <future>

#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/float_mode_watch.h"
#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith::conformance {
namespace {

constexpr int64_t kAlignment = 64;  // of every buffer (kernel_abi.h)
constexpr std::byte kStale{0xff};   // what an output holds before: as a float a NaN

/// Nobody may touch what lies behind the bytes, nor write what lies before them.
GuardedBuffer guarded(const Tensor& tensor) {
  GuardedBuffer buffer(static_cast<int64_t>(tensor.bytes.size()), kAlignment);
  std::ranges::copy(tensor.bytes, buffer.data());
  return buffer;
}

}  // namespace

std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled, std::vector<Tensor> arguments,
                               size_t inputs) {
  std::vector<GuardedBuffer> memory;
  std::vector<void*> buffers;
  for (const Tensor& tensor : arguments) {
    memory.push_back(guarded(tensor));
    if (memory.size() <= inputs) memory.back().set_read_only(true);
    buffers.push_back(memory.back().data());
  }
  const GuardedBuffer workspace_memory(compiled.workspace_bytes, kAlignment);
  void* workspace = compiled.workspace_bytes > 0 ? workspace_memory.data() : nullptr;
  const GuardedBuffer prepared(compiled.prepare ? compiled.prepare->bytes : 0, kAlignment);
  const auto kernel = target.load(compiled);
  FloatModeWatch float_mode(nullptr);
  if (compiled.prepare) {
    if (kernel->prepare() == nullptr)
      throw EnvironmentError("it loads without the entry point that prepares");
    std::vector<void*> given(buffers.size(), nullptr);
    for (const size_t position : compiled.prepare->reads) given[position] = buffers[position];
    given.push_back(prepared.data());
    kernel->prepare()(given.data(), workspace, &tunesmith_runtime_parallel_for, nullptr);
    for (const size_t position : compiled.prepare->unread) buffers[position] = nullptr;
    buffers.push_back(prepared.data());
  }
  const auto call = [&] {
    for (size_t i = inputs; i < memory.size(); ++i) std::fill_n(memory[i].data(), memory[i].bytes(), kStale);
    kernel->entry()(buffers.data(), workspace, &tunesmith_runtime_parallel_for, nullptr);
  };
  // What sets a thread up must work in each of a process: not only in the first that calls.
  std::async(std::launch::async, call).get();
  call();
  if (const auto fault = kernel->take_fault())
    throw EnvironmentError("its device found a mistake: " + fault->message);
  if (float_mode.take_change()) throw EnvironmentError(std::string("it ") + kFloatModeChanged);
  const bool intact = std::ranges::all_of(memory, &GuardedBuffer::check_canary);
  if (!intact || !workspace_memory.check_canary()) throw EnvironmentError("it wrote beyond its buffers");
  for (size_t i = inputs; i < arguments.size(); ++i)
    std::copy_n(memory[i].data(), memory[i].bytes(), arguments[i].bytes.data());
  return arguments;
}

}  // namespace tunesmith::conformance
