// A network's kernels in the order of their calls, in a built library or in this process.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Called before the first step (step -1, no buffers) and after each step, with the kernel's buffers: inputs,
/// outputs, and prepared memory.
using StepObserver = std::function<void(int step, void* const* buffers)>;

class RunnableNetwork {
 public:
  virtual ~RunnableNetwork() = default;

  virtual int steps() const = 0;
  virtual std::string step_name(int step) const = 0;
  /// The number of the kernel's buffers: its inputs and outputs, and one if it prepares something.
  virtual size_t buffers(int step) const = 0;
  /// Does the step's kernel read this buffer? If it reads prepared memory instead, the pointer is
  /// meaningless.
  virtual bool reads(int step, size_t buffer) const = 0;
  /// Makes one call. `data`: the inputs, then the outputs, row-major and aligned at least to their elements.
  /// Throws EnvironmentError if the call fails; rethrows the observer's exceptions, at the latest after the
  /// call.
  virtual void run(std::span<void* const> data, const StepObserver& observer = {}) = 0;
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
