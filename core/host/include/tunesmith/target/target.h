// Targets: what compiles and runs a program. The interface that a target plugin implements.
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

/// Is the hardware here? `missing` names the first feature that is not, and is empty when all are.
struct ProbeResult {
  std::string missing;
  bool here() const { return missing.empty(); }
};

class Benchmarking;
class Packaging;
class SeparateDevice;

/// What compiles programs for a machine and loads them. What a target can do besides is in its facets, each a
/// class in a header of its own; a target without one leaves its function out. A facet belongs to the target
/// and lives as long as it; its function gives the same pointer every time.
///
/// One object for a whole run, used from many threads at once: compile(), assembly(), source() and what the
/// facets say of themselves must be thread-safe, the others are called by one thread. Errors of one candidate
/// are returned or thrown as LowerError; of the installation as EnvironmentError.
class Target {
 public:
  virtual ~Target();

  virtual ProbeResult probe() const = 0;
  virtual const DeviceModel& device() const = 0;
  /// Levels and scopes of the machine: host_execution() unless it says otherwise. Does not change.
  virtual const ExecutionModel& execution() const;
  /// What code is compiled for: kind, processor, features, options. Stable text of one line.
  virtual std::string identity() const = 0;
  /// Of the code generator: another text whenever compile() may make other code of one lowered program, so
  /// that times of old code are never taken for those of new code. A version that is raised when the target
  /// changes its code, then a comma and the versions of the libraries that generate code. One line.
  virtual std::string fingerprint() const = 0;
  virtual LowerOptions lower_options() const = 0;
  /// The steps by which programs are lowered for it, in order: standard_pipeline() unless it says otherwise.
  virtual Pipeline pipeline() const;
  /// Keys of the annotations that compile() carries out, besides those of its steps. None unless it says
  /// otherwise.
  virtual std::vector<std::string> consumes() const;
  /// Does compile() make an entry point of LoweredProgram::prepare? Where it does not, what a schedule does
  /// to constant inputs stays in the kernel.
  virtual bool can_prepare() const;
  /// May code use this feature of the processor? In the target's own names; false for what it does not know.
  virtual bool has_feature(std::string_view name) const;

  /// Compiles for speed of compiling and of the code. The unexpected value is the compiler's message.
  virtual tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                            const std::string& symbol) = 0;
  /// Throws EnvironmentError when the object is damaged, or when what its SetupStep does fails.
  virtual std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) = 0;
  /// Human-readable code for the target, for tests and `trace show --assembly`. May throw LowerError, as
  /// source() may, for what compile() refuses.
  virtual std::string assembly(const LoweredProgram& lowered, const std::string& symbol) = 0;
  /// The text that compile() hands to a compiler, for people and `trace show --code`; nothing where the
  /// target emits machine code itself, which is so unless it says otherwise.
  virtual std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol);

  // Facets, each null unless the target says otherwise.

  /// Where the back end may end the process over an intrinsic's implementation (intrinsic_compiler.h). Null:
  /// compile() answers whatever is wrong with one.
  virtual const IntrinsicCompiler* intrinsic_compiler() const;
  /// Writes libraries (packaging.h). Null: `build` is refused.
  virtual Packaging* packaging();
  /// Measures the machine (benchmarking.h). Null: programs have no peak to be compared with.
  virtual Benchmarking* benchmarking();
  /// Where programs do not run on the processor that calls them (separate_device.h). Null: they do.
  virtual SeparateDevice* separate_device();
};

/// target.lower_options() with target.execution().
LowerOptions lower_options_of(const Target& target);

/// `program` by the target's own list of steps and limits, without extensions. Throws LowerError.
LoweredProgram lower_for(const Target& target, const Program& program);
/// The target's part of what tasks are tuned for (Space::task_target): its identity, the fingerprint of its
/// code generator, and kLoweringVersion, as the text of a TargetIdentity.
std::string task_target(const Target& target);

/// Adds to a base target: limits, intrinsics, modules, steps of lowering, columns of features. Kind
/// `extension`.
class TargetExtension {
 public:
  virtual ~TargetExtension();
  virtual ProbeResult probe(const Target& base) const = 0;
  /// May add or change quantities.
  virtual void describe(DeviceModel& device) const = 0;
  /// May add intrinsics or change limits. Called whether probe() finds the hardware or not: schedules know
  /// the intrinsics by name even where nothing can execute them.
  virtual void adapt(LowerOptions& options) const = 0;
  /// May insert steps into the target's list.
  virtual void extend(Pipeline& pipeline) const;
  /// Columns that cost models are given behind the kernel's, the same at every call. Names of lower-case
  /// letters, digits and underscores, which no other column has, with a unit and a meaning. None unless it
  /// says otherwise.
  virtual std::vector<AddedColumn> feature_columns() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
