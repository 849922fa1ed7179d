// Targets compile and run programs. The interface of target plugins.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/lower/pipeline.h"
#include "tunesmith/target/compiled_kernel.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/target/feature_column.h"
#include "tunesmith/target/intrinsic_compiler.h"
#include "tunesmith/target/loaded_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Is the hardware available? `missing` names the first missing feature; empty if none is missing.
struct ProbeResult {
  std::string missing;
  bool here() const { return missing.empty(); }
};

class Benchmarking;
class Packaging;
class SeparateDevice;

/// Compiles programs for a machine and loads them. Optional abilities are facets, each a
/// class in its own header; a target without one does not override its function. A facet
/// belongs to the target and lives as long; its function always returns the same pointer.
///
/// One object for a whole run, used from many threads: compile(), assembly(), source() and descriptive
/// functions of facets must be thread-safe, the others are called by one thread. Errors of a candidate
/// are returned, or thrown as LowerError; errors of the installation are thrown as EnvironmentError.
class Target {
 public:
  virtual ~Target();

  virtual ProbeResult probe() const = 0;
  virtual const DeviceModel& device() const = 0;
  /// Levels and scopes of the machine: host_execution() by default. Constant.
  virtual const ExecutionModel& execution() const;
  /// What code is compiled for: kind, processor, features, options. A stable text of one line.
  virtual std::string identity() const = 0;
  /// The version of the code generator and, after a comma, of the libraries that it
  /// uses. It must change whenever compile() may generate different code for a lowered
  /// program, so that times of old code are never taken for those of new code. One line.
  virtual std::string fingerprint() const = 0;
  virtual LowerOptions lower_options() const = 0;
  /// The lowering steps in order: standard_pipeline() by default.
  virtual Pipeline pipeline() const;
  /// Keys of the annotations that compile() consumes,
  /// besides those of its steps. None by default.
  virtual std::vector<std::string> consumes() const;
  /// Does compile() make an entry point for LoweredProgram::prepare?
  /// If not, work on constant inputs stays in the kernel.
  virtual bool can_prepare() const;
  /// May code use this feature of the processor, in the target's names? False for unknown features.
  virtual bool has_feature(std::string_view name) const;

  /// Optimises for compile time and speed of the code. The unexpected value is the compiler's message.
  virtual tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                            const std::string& symbol) = 0;
  /// Throws EnvironmentError if the object is damaged or its SetupStep fails.
  virtual std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) = 0;
  /// Readable code for tests and `trace show --assembly`. May throw
  /// LowerError, as source() may, for programs that compile() refuses.
  virtual std::string assembly(const LoweredProgram& lowered, const std::string& symbol) = 0;
  /// The text that compile() passes to a compiler, for people and `trace show
  /// --code`; nothing if the target emits machine code itself, as by default.
  virtual std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol);

  // Facets, each null by default.

  /// For a back end that may end the process over an intrinsic's implementation
  /// (intrinsic_compiler.h). Null: compile() reports all errors.
  virtual const IntrinsicCompiler* intrinsic_compiler() const;
  /// Writes libraries (packaging.h). Null: `build` is refused.
  virtual Packaging* packaging();
  /// Measures the machine (benchmarking.h). Null: programs have no peak to compare with.
  virtual Benchmarking* benchmarking();
  /// For programs that do not run on the calling processor (separate_device.h). Null: they do.
  virtual SeparateDevice* separate_device();
};

/// target.lower_options() with target.execution().
LowerOptions lower_options_of(const Target& target);

/// Lowers by the target's list of steps and limits, without extensions. Throws LowerError.
LoweredProgram lower_for(const Target& target, const Program& program);
/// The target's part of a task's identity (Space::task_target): its identity, the
/// version of its code generator, and kLoweringVersion, as the text of a TargetIdentity.
std::string task_target(const Target& target);

/// Extends a base target: limits, intrinsics, modules,
/// lowering steps, feature columns. Kind `extension`.
class TargetExtension {
 public:
  virtual ~TargetExtension();
  virtual ProbeResult probe(const Target& base) const = 0;
  /// May add or change quantities.
  virtual void describe(DeviceModel& device) const = 0;
  /// May add intrinsics or change limits. Called whether probe() finds the hardware or
  /// not: schedules know the intrinsics by name even where nothing can execute them.
  virtual void adapt(LowerOptions& options) const = 0;
  /// May insert steps into the target's list.
  virtual void extend(Pipeline& pipeline) const;
  /// Feature columns for cost models, after the kernel's; the same at every call. Names have lower-case
  /// letters, digits and underscores and are unique; each has a unit and a meaning. None by default.
  virtual std::vector<AddedColumn> feature_columns() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
