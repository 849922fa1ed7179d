// Targets: what compiles and runs a program. The interface that a target plugin implements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/lower/pipeline.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/target/feature_column.h"
#include "tunesmith/target/intrinsic_compiler.h"
#include "tunesmith/target/kernel_abi.h"

namespace tunesmith {

/// Is the hardware here? `missing` names the first feature that is not, and is empty when all are.
struct ProbeResult {
  std::string missing;
  bool here() const { return missing.empty(); }
};

/// What is done once before any call of a kernel, and again whenever a constant input has changed.
struct PrepareStep {
  std::string symbol;          // of its entry point, a tunesmith_kernel with the kernel's own arguments
  int64_t bytes = 0;           // of prepared memory: the last of the kernel's buffers
  std::vector<size_t> reads;   // positions of the inputs that it reads
  std::vector<size_t> unread;  // positions of those among them that the kernel itself reads no more
};

/// What is done once in a process before any call of a kernel, for the units whose instructions it calls.
/// Target::load() does it, and a built library before its first call.
struct SetupStep {
  std::string symbol;  // of its entry point, a tunesmith_setup
  /// Of an int64_t: 0, or like a tunesmith_setup's answer what failed in a thread that ran a part of the
  /// kernel. That part was left out, and what the call has written means nothing.
  std::string fault;
  std::vector<std::string> parts;  // what they are called in messages
};

/// A kernel as bytes that can be sent to a worker and loaded by the same target there.
struct CompiledKernel {
  std::string object;
  std::string symbol;
  int64_t workspace_bytes = 0;  // of the kernel and of its preparation
  double compile_seconds = 0.0;
  std::optional<PrepareStep> prepare = std::nullopt;
  std::optional<SetupStep> setup = std::nullopt;
};

/// The step that prepares for `lowered`, with this symbol; nothing when there is nothing to prepare.
std::optional<PrepareStep> prepare_step(const LoweredProgram& lowered, std::string symbol);

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

/// A kernel in this process. Its code lives as long as this object.
class LoadedKernel {
 public:
  virtual ~LoadedKernel();
  virtual tunesmith_kernel entry() const = 0;
  /// Null unless the kernel has a PrepareStep.
  virtual tunesmith_kernel prepare() const;
  /// What calls since the last question did wrong. Nothing of a device that does not watch.
  virtual std::optional<KernelFault> take_fault();
  /// The seconds of a call by a model, where Target::models_times(); nothing where calls are timed.
  virtual std::optional<double> modelled_seconds() const;
  /// Where calls run on a device with a clock of its own: the seconds of one by that clock, the mean of at
  /// least `calls` (1 or more) one after the other on these arguments, which are then as a call leaves them.
  /// Positive, also of calls that did wrong, which take_fault() tells. Nothing where the caller's clock
  /// tells, as it does unless the kernel says otherwise.
  virtual std::optional<double> device_seconds(int calls, void* const* buffers, void* workspace);
};

/// A kernel that does nothing but independent multiply-adds, as fast as the machine can.
struct PeakKernel {
  CompiledKernel kernel;    // takes no buffers
  double operations = 0.0;  // arithmetic operations of one call, on all threads together
  /// The tensor intrinsic that makes them; empty where they are the processor's own.
  std::string unit = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// What to link a library from: one kernel and the C names of its entry points.
struct LibraryRequest {
  const CompiledKernel* kernel = nullptr;
  const Program* program = nullptr;  // unscheduled, for the arguments' names, types and shapes
  std::string name;                  // a C identifier
  std::string directory;             // existing; receives lib<name>.so and <name>.h
  std::string provenance;            // a comment for the header: workload, trace id, measured time
};
struct LibraryFiles {
  std::string library;
  std::string header;
  std::vector<std::string> others = {};  // that a target writes besides
};

/// One object for a whole run, used from many threads at once: compile(), compile_twin(),
/// compile_reference(), assembly() and source() must be thread-safe, the others are called by one thread.
/// Errors of one candidate are returned or thrown as LowerError; of the installation as EnvironmentError.
class Target {
 public:
  virtual ~Target();

  virtual ProbeResult probe() const = 0;
  virtual const DeviceModel& device() const = 0;
  /// Levels and scopes of the machine: host_execution() unless it says otherwise. Does not change.
  virtual const ExecutionModel& execution() const;
  /// Do times come from a model, because nothing here could take them? Programs are run and verified all the
  /// same. Their tasks have the device `modelled`, so such a time is never compared with a measured one.
  virtual bool models_times() const;
  /// What a person who looks after this machine should know of it besides, in one line: that there is no
  /// device here to measure on, and why. Empty unless it says otherwise.
  virtual std::string remark() const;
  /// Called once in a process that runs kernels, before any of them is loaded and before its memory is
  /// limited: opens what running them needs. Throws EnvironmentError. Does nothing unless it says otherwise.
  virtual void open_device();
  /// What code is compiled for: kind, processor, features, options. Stable text of one line.
  virtual std::string identity() const = 0;
  /// Of the code generator: another text whenever compile() may make other code of one lowered program, so
  /// that times of old code are never taken for those of new code. A hash of the target's sources, made when
  /// it is built, and the versions of the libraries that generate code. One line.
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

  /// Where the back end may end the process over an intrinsic's implementation. Lives as long as the target.
  /// Null unless it says otherwise: compile() answers whatever is wrong with one.
  virtual const IntrinsicCompiler* intrinsic_compiler() const;

  /// Compiles for speed of compiling and of the code. The unexpected value is the compiler's message.
  virtual tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                            const std::string& symbol) = 0;
  /// Throws EnvironmentError when the object is damaged, or when what its SetupStep does fails.
  virtual std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) = 0;
  /// Is running a program here so much slower than on the machine it is for that a candidate is verified as
  /// its twin: the same schedule of a smaller instance of the workload (docs/devices.md)? Only where
  /// models_times(), since a twin's time says nothing. False unless it says otherwise.
  virtual bool verifies_twins() const;
  /// An object that runs `twin` and has the modelled time of `lowered`, which is refused for all that
  /// compile() finds without running it. Called only where verifies_twins(), from many threads at once.
  virtual tl::expected<CompiledKernel, std::string> compile_twin(const LoweredProgram& lowered,
                                                                 const LoweredProgram& twin,
                                                                 const std::string& symbol);
  /// Like compile(), of the unscheduled program by which candidates are judged: it is trusted, so that a
  /// target which watches its programs need not watch this one. compile() unless it says otherwise.
  virtual tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                                      const std::string& symbol);
  /// Human-readable code for the target, for tests and `trace show --assembly`. May throw LowerError, as
  /// source() may, for what compile() refuses.
  virtual std::string assembly(const LoweredProgram& lowered, const std::string& symbol) = 0;
  /// The text that compile() hands to a compiler, for people and `trace show --code`; nothing where the
  /// target emits machine code itself, which is so unless it says otherwise.
  virtual std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol);
  virtual LibraryFiles build_library(const LibraryRequest& request) = 0;

  /// Multiply-adds of `type` on `threads` cores, about half a millisecond of them. Timed in turn with a
  /// program it gives the peak at that moment, on a machine shared with others, too.
  virtual PeakKernel peak_kernel(DType type, int threads) = 0;
  /// Bytes a second read plus written when copying a buffer far larger than the caches on `threads` cores,
  /// measured now.
  virtual double measure_copy_bandwidth(int threads) = 0;
};

/// target.lower_options() with target.execution().
LowerOptions lower_options_of(const Target& target);

/// `program` by the target's own list of steps and limits, without extensions. Throws LowerError.
LoweredProgram lower_for(const Target& target, const Program& program);
/// The target's part of what tasks are tuned for (Space::task_target): its identity, the fingerprint of its
/// code generator, and that of the lowering in this kernel.
std::string task_target(const Target& target);

/// Arithmetic operations a second of `target`'s peak kernel: the best within a fraction of a second. Throws
/// EnvironmentError when the threads cannot be started.
double measure_peak(Target& target, DType type, int threads);
/// The same of a peak kernel for `threads` threads that the target has compiled.
double measure_peak(Target& target, const PeakKernel& peak, int threads);

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
