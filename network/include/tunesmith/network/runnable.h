// A network's kernels in the order of their calls, as a built library has them or in this process.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Told before the first step (step -1, no buffers) and after each, with the kernel's buffers: its inputs,
/// its outputs, and what it has prepared.
using StepObserver = std::function<void(int step, void* const* buffers)>;

class RunnableNetwork {
 public:
  virtual ~RunnableNetwork() = default;

  virtual int steps() const = 0;
  virtual std::string step_name(int step) const = 0;
  /// How many the step's kernel has: as many as its inputs and outputs, and one where it prepares something.
  virtual size_t buffers(int step) const = 0;
  /// Does the step's kernel read this buffer? Of one that reads prepared memory instead the pointer means
  /// nothing.
  virtual bool reads(int step, size_t buffer) const = 0;
  /// One call. `data`: of the inputs, then of the outputs, row-major and aligned at least to their elements.
  /// Throws EnvironmentError where the call fails, and what the observer throws, at the latest after the
  /// call.
  virtual void run(std::span<void* const> data, const StepObserver& observer = {}) = 0;
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
