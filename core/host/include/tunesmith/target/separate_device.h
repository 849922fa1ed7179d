// A target's facet: a device other than the processor
// of the calling process, real, emulated or modelled.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;
class TwinVerification;

/// Owned by its target (Target::separate_device()). compile_reference() must be
/// thread-safe; the other functions are called by one thread and always return the same.
class SeparateDevice {
 public:
  virtual ~SeparateDevice();

  /// Called once in a process that runs kernels, before any is loaded and before its memory
  /// is limited: opens the device. Throws EnvironmentError. Does nothing by default.
  virtual void open();
  /// A line for the administrator of this machine, for example that
  /// there is no device to measure on, and why. Empty by default.
  virtual std::string remark() const;
  /// Do times come from a model, because nothing here can measure them? Programs are still run and verified.
  /// Their tasks have the device `modelled`, so that such times are never compared with measured ones.
  virtual bool models_times() const = 0;
  /// Like Target::compile(), for the unscheduled reference program. It is trusted, so a
  /// device that watches its programs need not watch it, and it may run on the processor.
  virtual tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                                      const std::string& symbol) = 0;
  /// Is running a program here so slow that candidates are verified as their twins?
  /// Only with models_times(), since a twin has no meaningful time. Null by default.
  virtual TwinVerification* twins();
};

/// Of the target's separate device; false if it has none.
bool models_times(Target& target);
/// Of the target's separate device; null if it has none.
TwinVerification* twins_of(Target& target);
/// Compiles by the target's separate device if it has one, else by Target::compile().
tl::expected<CompiledKernel, std::string> compile_reference(Target& target, const LoweredProgram& lowered,
                                                            const std::string& symbol);

}  // namespace tunesmith
#pragma GCC visibility pop
