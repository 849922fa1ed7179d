#include "run_kernel.h"

#include <memory>

#include "tunesmith/support/error.h"
#include "tunesmith/target/runtime.h"

namespace tunesmith::conformance {
namespace {

/// Memory of `bytes`, aligned to 64.
class AlignedBytes {
 public:
  explicit AlignedBytes(int64_t bytes) : bytes_(static_cast<size_t>(bytes) + 64) {
    void* start = bytes_.data();
    size_t room = bytes_.size();
    aligned_ = std::align(64, static_cast<size_t>(bytes), start, room);
  }
  void* data() const { return aligned_; }

 private:
  std::vector<std::byte> bytes_;
  void* aligned_ = nullptr;
};

}  // namespace

std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled,
                               std::vector<Tensor> arguments) {
  std::vector<void*> buffers;
  buffers.reserve(arguments.size());
  for (Tensor& tensor : arguments) buffers.push_back(tensor.bytes.data());
  const AlignedBytes memory(compiled.workspace_bytes);
  void* workspace = compiled.workspace_bytes > 0 ? memory.data() : nullptr;
  const AlignedBytes prepared(compiled.prepare ? compiled.prepare->bytes : 0);
  const auto kernel = target.load(compiled);
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
  kernel->entry()(buffers.data(), workspace, &tunesmith_runtime_parallel_for, nullptr);
  if (const auto fault = kernel->take_fault())
    throw EnvironmentError("its device found a mistake: " + fault->message);
  return arguments;
}

}  // namespace tunesmith::conformance
