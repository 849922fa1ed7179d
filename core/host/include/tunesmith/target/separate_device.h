// A target's facet: a device other than the processor of the process that calls it, real, emulated or
// modelled.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;
class TwinVerification;

/// Owned by its target (Target::separate_device()). compile_reference() must be thread-safe; the others are
/// called by one thread, and answer the same every time.
class SeparateDevice {
 public:
  virtual ~SeparateDevice();

  /// Called once in a process that runs kernels, before any of them is loaded and before its memory is
  /// limited: opens what running them needs. Throws EnvironmentError. Does nothing unless it says otherwise.
  virtual void open();
  /// What a person who looks after this machine should know of the device, in one line: that there is none
  /// here to measure on, and why. Empty unless it says otherwise.
  virtual std::string remark() const;
  /// Do times come from a model, because nothing here could take them? Programs are run and verified all the
  /// same. Their tasks have the device `modelled`, so such a time is never compared with a measured one.
  virtual bool models_times() const = 0;
  /// Like Target::compile(), of the unscheduled program by which candidates are evaluated: it is trusted, so
  /// that a device which watches its programs need not watch this one, and may run on the processor.
  virtual tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                                      const std::string& symbol) = 0;
  /// Is running a program here so much slower than on the machine it is for that candidates are verified as
  /// their twins? Only where models_times(), since a twin's time says nothing. Null unless it says otherwise.
  virtual TwinVerification* twins();
};

/// Of the target's separate device; false where it has none.
bool models_times(Target& target);
/// Of the target's separate device; null where it has none.
TwinVerification* twins_of(Target& target);
/// By the target's separate device where it has one, else by Target::compile().
tl::expected<CompiledKernel, std::string> compile_reference(Target& target, const LoweredProgram& lowered,
                                                            const std::string& symbol);

}  // namespace tunesmith
#pragma GCC visibility pop
