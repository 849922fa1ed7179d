// A composed space: the target and the modules in order, which make sketches and candidates.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/measure/failure.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/search/cost_model.h"
#include "tunesmith/search/searcher.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/space/absent_extension.h"
#include "tunesmith/space/module.h"
#include "tunesmith/space/refused_intrinsic.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/space/unconsumed_annotation.h"
#include "tunesmith/target/target.h"
#include "tunesmith/target/target_identity.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What one module did at one block, for `spaces explain`.
struct ModuleEvent {
  std::string module;
  std::string block;  // "" for the root
  ModuleResult::Status status;
  std::string reason;  // of a refusal or claim; or why there are no more schedules; or ""
  size_t forks = 0;    // schedules returned
  size_t count = 1;    // merged equal events, over all branches of the space
};

/// The instructions [begin, end) that one module added to a sketch's trace.
struct SketchStep {
  std::string module;
  std::string block;  // "" for the root
  size_t begin = 0;
  size_t end = 0;
};

/// The space of one program.
struct SketchSet {
  std::vector<Schedule>
      sketches;  // in a fixed order; not empty: the unscheduled program if no module applied
  std::vector<std::vector<SketchStep>> steps;  // how each sketch was made
  std::vector<ModuleEvent> events;
};

/// Must this machine be able to run the target's programs? If not,
/// programs are made, interpreted and compiled, but not loaded.
enum class TargetPresence { Required, NotRequired };

/// The constructor loads every named plugin and checks every option;
/// on errors it throws UserError and has no effect. Immutable
/// afterwards; materialise() may be called from several threads.
class Space {
 public:
  /// EnvironmentError if the target is required and its probe finds that something is missing.
  Space(const SpaceSpec& spec, PluginRegistry& registry, TargetPresence presence = TargetPresence::Required);
  /// With an existing target, ignoring the target in the description.
  /// The target of a replayed table (tables/replay.h) is no plugin.
  Space(const SpaceSpec& spec, PluginRegistry& registry, std::shared_ptr<Target> target);
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  /// Contains the modules of the description and the partners that they bring.
  const SpaceSpec& spec() const;
  Target& target() const;
  /// The target's description with the extensions' quantities.
  const DeviceModel& device() const;
  /// The intrinsics of all extensions in the description, available or not, which schedules of this space
  /// call by name. generate() and materialise() use them; callers that replay a trace of this space pass them
  /// to replay().
  const std::shared_ptr<const TensorIntrinsics>& intrinsics() const;
  /// The intrinsics that programs may call: those of
  /// available extensions that the target's compiler accepts.
  const std::vector<TensorIntrinsicPtr>& callable_intrinsics() const;
  /// The feature columns that the extensions add, in their order.
  const std::vector<FeatureColumn>& added_columns() const;
  /// The target as part of a task's identity, under whose
  /// text records are kept, with the available extensions.
  const TargetIdentity& task_target() const;
  /// The canonical text of the modules and all their options; records
  /// contain its hash, so that a changed space does not resume an old run.
  const std::string& rules() const;
  uint64_t rules_hash() const;
  /// The canonical texts of the searchers (one per line, with their trials) and of the cost
  /// model, with all options. Not part of rules(): the space is the same for every search.
  const std::string& search_text() const;
  const std::string& cost_model_text() const;
  /// id -> version of every plugin in use, for the environment;
  /// without the task scheduler, which does not affect times.
  const std::map<std::string, std::string>& plugin_versions() const;

  /// Intrinsics that the target's compiler refuses, by extension. Modules
  /// do not see them, and materialise() refuses schedules that call them.
  const std::vector<RefusedIntrinsic>& refused_intrinsics() const;

  /// Optional extensions that no pack contains.
  const std::vector<AbsentExtension>& absent_extensions() const;
  /// Annotations of its modules that nothing consumes: programs are correct, but slower than possible.
  const std::vector<UnconsumedAnnotation>& unconsumed_annotations() const;

  std::shared_ptr<Searcher> create_searcher(size_t stage) const;
  /// Creates a searcher that the space does not name, with default options: SearchContext::create_searcher().
  std::shared_ptr<Searcher> create_searcher(const std::string& id) const;
  std::shared_ptr<CostModel> create_cost_model() const;
  /// Throws UserError if the description names none.
  std::shared_ptr<TaskScheduler> create_task_scheduler() const;

  /// Applies the modules to `program` in order, each to the blocks from the
  /// last to the first (MetaSchedule, figure 5). Throws PluginError if a
  /// module returns Broken, throws, or leaves a program that does not verify.
  SketchSet generate(const Program& program) const;
  /// Replays, applies the finishing modules and lowers; the candidate's trace is complete. A
  /// complete trace is only replayed and lowered, without modules. Failures: illegal_schedule,
  /// verify_limits, or compile_error for a call of one of refused_intrinsics(). Open decisions
  /// are redrawn, up to some hundred times, while a limit refuses them: draws that the limits
  /// allow stay equally likely. `observer` sees the program after each lowering step.
  tl::expected<CandidatePtr, CandidateFailure> materialise(const Program& program, const Trace& trace,
                                                           RandomStream random,
                                                           const LoweringObserver& observer = {}) const;

 private:
  struct State;
  /// A single draw.
  tl::expected<CandidatePtr, CandidateFailure> materialise_draw(const Program& program, const Trace& trace,
                                                                RandomStream random,
                                                                const LoweringObserver& observer) const;
  std::unique_ptr<State> state_;
};

/// The required packs that are missing, in the description's order.
/// If one is missing, the space cannot be composed: EnvironmentError.
std::vector<std::string> missing_packs(const SpaceSpec& spec, const PluginRegistry& registry);

/// Space::intrinsics() without composing the space, for callers that replay traces and
/// compile nothing. Throws as the constructor does if an extension is missing or refused.
std::shared_ptr<const TensorIntrinsics> read_extensions(const SpaceSpec& spec, PluginRegistry& registry);

}  // namespace tunesmith
#pragma GCC visibility pop
