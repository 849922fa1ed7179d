// A kernel that can be called in this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/target/kernel_abi.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A fault of a program, observed by a device that watches its programs.
struct KernelFault {
  enum class Kind : uint8_t {
    Mistake,      // a race, a barrier that not all threads reach, uninitialised memory
    OutOfBounds,  // an access outside the program's memory
    TimeOut,
    Crash,
    NotSetUp  // the setup of a thread for its instructions failed
  };
  Kind kind = Kind::Mistake;
  std::string message;  // one line
  /// The device cannot be used any more in this process: the worker ends after its answer and is restarted.
  bool device_lost = false;
};

/// A kernel in this process. Its code lives as long as this object. Called by one thread at
/// a time, except for entry() of a target without a SeparateDevice and the function that it
/// returns: several threads may call them, each with its own buffers and workspace.
class LoadedKernel {
 public:
  virtual ~LoadedKernel();
  virtual tunesmith_kernel entry() const = 0;
  /// Null if the kernel has no PrepareStep.
  virtual tunesmith_kernel prepare() const;
  /// The faults of calls since the last take_fault(). Nothing if the device does not watch its programs.
  virtual std::optional<KernelFault> take_fault();
  /// The modelled time of a call in seconds if SeparateDevice::models_times(); nothing if calls are timed.
  virtual std::optional<double> modelled_seconds() const;
  /// If calls run on a device with its own clock: the mean time of at least `calls`
  /// (1 or more) successive calls on these arguments, in seconds; the arguments are
  /// changed as by a call. Positive, also for faulty calls, which take_fault()
  /// reports. Nothing if the caller's clock is to be used, as by default.
  virtual std::optional<double> device_seconds(int calls, void* const* buffers, void* workspace);
};

}  // namespace tunesmith
#pragma GCC visibility pop
