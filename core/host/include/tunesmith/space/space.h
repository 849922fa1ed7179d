// A space, composed: the target, the modules in order, and how sketches and candidates come of them.
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
  std::string reason;  // of a refusal or a claim; why there are not more schedules, or ""
  size_t forks = 0;    // schedules answered
  size_t count = 1;    // equal events merged, over all branches of the space
};

/// What one module added to a sketch's trace: the instructions from `begin` to before `end`.
struct SketchStep {
  std::string module;
  std::string block;  // "" for the root
  size_t begin = 0;
  size_t end = 0;
};

/// The space of one program.
struct SketchSet {
  std::vector<Schedule>
      sketches;  // in a fixed order; not empty: the unscheduled program is there when no module applied
  std::vector<std::vector<SketchStep>> steps;  // how each of the sketches came to be
  std::vector<ModuleEvent> events;
};

/// Must this machine be able to run the target's programs? Where it need not, programs are made, interpreted
/// and compiled, and are not to be loaded.
enum class TargetPresence { Required, NotRequired };

/// Composed all or nothing: the constructor loads every plugin that the description names and checks every
/// option, or throws UserError and nothing has happened. Afterwards immutable; materialise() may be called
/// from several threads.
class Space {
 public:
  /// EnvironmentError where the target's probe finds that something is missing and it is required.
  Space(const SpaceSpec& spec, PluginRegistry& registry, TargetPresence presence = TargetPresence::Required);
  /// On a target that is there already: what the description says of its target is not read. A replayed
  /// table's (tables/replay.h) is no plugin.
  Space(const SpaceSpec& spec, PluginRegistry& registry, std::shared_ptr<Target> target);
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  /// Its modules are those of the description and the partners that they bring.
  const SpaceSpec& spec() const;
  Target& target() const;
  /// The target's description with the extensions' additions.
  const DeviceModel& device() const;
  /// Those of all extensions that the description names, here or not: what schedules of this space call by a
  /// name. generate() and materialise() make their schedules with them; whoever replays a trace of this space
  /// hands them to replay().
  const std::shared_ptr<const TensorIntrinsics>& intrinsics() const;
  /// Those that programs may call: of the extensions that are here, without what the target's compiler
  /// refuses.
  const std::vector<TensorIntrinsicPtr>& callable_intrinsics() const;
  /// Of features, those that the extensions add, in their order.
  const std::vector<FeatureColumn>& added_columns() const;
  /// What tasks of this space are tuned for; their records are kept under its text. Its extensions are those
  /// that are here.
  const TargetIdentity& task_target() const;
  /// Canonical text of the modules and all their options; records carry its hash, so that a changed space
  /// does not resume an old run.
  const std::string& rules() const;
  uint64_t rules_hash() const;
  /// Canonical texts of the searchers, one a line with what they may try, and of the cost model, with all
  /// their options. No part of rules(): the space is the same for every search.
  const std::string& search_text() const;
  const std::string& cost_model_text() const;
  /// id -> version of every plugin in use, for the environment; without the task scheduler, which decides no
  /// time.
  const std::map<std::string, std::string>& plugin_versions() const;

  /// Tensor intrinsics that the target's compiler refuses, by their extensions' names. No module is
  /// offered them, and materialise() refuses schedules that call them.
  const std::vector<RefusedIntrinsic>& refused_intrinsics() const;

  /// Extensions that the description takes where they are, and that no pack has.
  const std::vector<AbsentExtension>& absent_extensions() const;
  /// Hints of its modules that nobody carries out: programs are right, and slower than they could be.
  const std::vector<UnconsumedAnnotation>& unconsumed_annotations() const;

  std::shared_ptr<Searcher> create_searcher(size_t stage) const;
  /// One that the space does not name, with its default options: SearchContext::create_searcher().
  std::shared_ptr<Searcher> create_searcher(const std::string& id) const;
  std::shared_ptr<CostModel> create_cost_model() const;
  /// Throws UserError when the description names none.
  std::shared_ptr<TaskScheduler> create_task_scheduler() const;

  /// Applies the modules to `program`, one module after the other, each visiting the blocks from the last to
  /// the first (MetaSchedule, figure 5). A module that answers Broken, throws, or leaves a program that does
  /// not verify ends it: PluginError.
  SketchSet generate(const Program& program) const;
  /// Replays, applies the finishing modules and lowers; the candidate's trace is complete. A complete trace
  /// is only replayed and lowered: no module is asked. Failure: illegal_schedule, verify_limits, or
  /// compile_error where it calls one of refused_intrinsics(). Open
  /// decisions are drawn again, some hundred times at most, as long as a limit refuses them: each draw that
  /// the limits allow is as likely as before. `observer` sees the program after each step of lowering.
  tl::expected<CandidatePtr, CandidateFailure> materialise(const Program& program, const Trace& trace,
                                                           RandomStream random,
                                                           const LoweringObserver& observer = {}) const;

 private:
  struct State;
  /// Of one draw.
  tl::expected<CandidatePtr, CandidateFailure> materialise_draw(const Program& program, const Trace& trace,
                                                                RandomStream random,
                                                                const LoweringObserver& observer) const;
  std::unique_ptr<State> state_;
};

/// The packs that the description requires and that are not here, in its order. With one missing, the space
/// cannot be composed: EnvironmentError.
std::vector<std::string> missing_packs(const SpaceSpec& spec, const PluginRegistry& registry);

/// What Space::intrinsics() would be, without the space: for who replays traces and compiles nothing. Throws
/// as the constructor does where an extension is not there or is refused.
std::shared_ptr<const TensorIntrinsics> read_extensions(const SpaceSpec& spec, PluginRegistry& registry);

}  // namespace tunesmith
#pragma GCC visibility pop
