// A kernel that can be called in this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/target/kernel_abi.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a device that watches its programs saw one do.
struct KernelFault {
  enum class Kind : uint8_t {
    Mistake,      // a race, a barrier that not all reach, memory that nothing has written
    OutOfBounds,  // an access to what is not the program's
    TimeOut,
    Crash,
    NotSetUp  // a thread could not be made ready for the instructions that it was to execute
  };
  Kind kind = Kind::Mistake;
  std::string message;  // one line
  /// The process can run nothing more on its device: the worker ends after its answer, and another begins.
  bool device_lost = false;
};

/// A kernel in this process. Its code lives as long as this object. Called by one thread at a time, except
/// for entry() of a target without a SeparateDevice and what entry() returns: several threads may call them
/// at once, each with buffers and a workspace of its own.
class LoadedKernel {
 public:
  virtual ~LoadedKernel();
  virtual tunesmith_kernel entry() const = 0;
  /// Null unless the kernel has a PrepareStep.
  virtual tunesmith_kernel prepare() const;
  /// What calls since the last question did wrong. Nothing of a device that does not watch.
  virtual std::optional<KernelFault> take_fault();
  /// The seconds of a call by a model, where SeparateDevice::models_times(); nothing where calls are timed.
  virtual std::optional<double> modelled_seconds() const;
  /// Where calls run on a device with a clock of its own: the seconds of one by that clock, the mean of at
  /// least `calls` (1 or more) one after the other on these arguments, which are then as a call leaves them.
  /// Positive, also of calls that did wrong, which take_fault() tells. Nothing where the caller's clock
  /// tells, as it does unless the kernel says otherwise.
  virtual std::optional<double> device_seconds(int calls, void* const* buffers, void* workspace);
};

}  // namespace tunesmith
#pragma GCC visibility pop
