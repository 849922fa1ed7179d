#include "tunesmith/space/space.h"

#include <algorithm>

#include <fmt/format.h>

#include "space/compile_intrinsics.h"
#include "space/composition.h"
#include "space/watched_plugins.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// The maximum number of draws of open decisions while the target's limits refuse the program.
constexpr uint64_t kMaxDraws = 100;

}  // namespace

Space::~Space() = default;

const SpaceSpec& Space::spec() const { return state_->spec; }
Target& Space::target() const { return *state_->target; }
const DeviceModel& Space::device() const { return state_->device; }
const std::shared_ptr<const TensorIntrinsics>& Space::intrinsics() const { return state_->all_intrinsics; }
const std::vector<TensorIntrinsicPtr>& Space::callable_intrinsics() const {
  return state_->lower_options.intrinsics;
}
const std::vector<FeatureColumn>& Space::added_columns() const { return state_->columns; }
const TargetIdentity& Space::task_target() const { return state_->task_target; }
const std::string& Space::rules() const { return state_->rules; }
uint64_t Space::rules_hash() const { return hash_bytes(state_->rules); }
const std::string& Space::search_text() const { return state_->search_text; }
const std::string& Space::cost_model_text() const { return state_->cost_model_text; }
const std::vector<RefusedIntrinsic>& Space::refused_intrinsics() const { return state_->refused; }
const std::vector<AbsentExtension>& Space::absent_extensions() const { return state_->absent; }
const std::vector<UnconsumedAnnotation>& Space::unconsumed_annotations() const { return state_->unconsumed; }
const std::map<std::string, std::string>& Space::plugin_versions() const { return state_->plugin_versions; }

std::shared_ptr<Searcher> Space::create_searcher(size_t stage) const {
  const PluginUse& use = state_->spec.search.at(stage).searcher;
  return watched(
      use.id, state_->registry->create<Searcher>(use.id, state_->searcher_options.at(stage), use.location));
}

std::shared_ptr<Searcher> Space::create_searcher(const std::string& id) const {
  PluginRegistry& registry = *state_->registry;
  return watched(
      id, registry.create<Searcher>(id, Options::defaults(registry.option_specs(PluginKind::Searcher, id),
                                                          plugin_name(PluginKind::Searcher, id))));
}

std::shared_ptr<CostModel> Space::create_cost_model() const {
  const PluginUse& use = state_->spec.cost_model;
  std::shared_ptr<CostModel> model =
      watched(use.id, state_->registry->create<CostModel>(use.id, state_->cost_model_options, use.location));
  model->use_columns(state_->columns);
  model->use_execution(state_->target->execution());
  return model;
}

std::shared_ptr<TaskScheduler> Space::create_task_scheduler() const {
  const PluginUse& use = state_->spec.task_scheduler;
  if (use.id.empty()) {
    throw UserError(
        state_->spec.location,
        fmt::format("space '{}' has no task scheduler, which several workloads require", state_->spec.name),
        "add task_scheduler: {kind: ...}");
  }
  return watched(
      use.id, state_->registry->create<TaskScheduler>(use.id, state_->task_scheduler_options, use.location));
}

tl::expected<CandidatePtr, CandidateFailure> Space::materialise(const Program& program, const Trace& trace,
                                                                RandomStream random,
                                                                const LoweringObserver& observer) const {
  auto made = materialise_draw(program, trace, random, observer);
  const auto refused_draw = [&] {
    if (made || made.error().cause != FailureCause::VerifyLimits) return false;
    const std::vector<size_t> points = trace.sampling();
    return std::ranges::any_of(points, [&](size_t point) { return !trace[point].decision; });
  };
  for (uint64_t draw = 1; draw < kMaxDraws && refused_draw(); ++draw)
    made = materialise_draw(program, trace, RandomStream(random.next(), draw), observer);
  return made;
}

tl::expected<CandidatePtr, CandidateFailure> Space::materialise_draw(const Program& program,
                                                                     const Trace& trace, RandomStream random,
                                                                     const LoweringObserver& observer) const {
  tl::expected<Schedule, ScheduleError> replayed =
      replay(program, trace, random, nullptr, state_->all_intrinsics);
  const auto refused = [](FailureCause cause, std::string why, std::string detail) {
    return tl::make_unexpected(CandidateFailure{cause, std::move(why), std::move(detail)});
  };
  if (!replayed) {
    return refused(FailureCause::IllegalSchedule, refusal_text(replayed.error()), replayed.error().detail());
  }
  Schedule finished = std::move(*replayed);
  if (!trace.complete()) {
    finished.enter_finishing();
    Claims claims;
    const ModuleInputs inputs{state_->device, state_->lower_options.execution, state_->intrinsics, program};
    for (const ComposedModule& module : state_->modules) {
      if (module.stage != ModuleStage::Finishing) continue;
      auto result = apply_module(module, finished, "", inputs, claims);
      if (!result && result.error().primitive() == module.id)
        return refused(FailureCause::VerifyLimits, result.error().reason(), result.error().detail());
      if (!result) {
        return refused(FailureCause::IllegalSchedule,
                       fmt::format("finishing module '{}': {}", module.id, refusal_text(result.error())),
                       result.error().detail());
      }
      if (result->status() == ModuleResult::Status::Applied)
        finished = std::move(result->schedules().front());
    }
  }
  if (const RefusedIntrinsic* called =
          called_refused(finished.program(), state_->refused, state_->lower_options.intrinsics))
    return refused(FailureCause::CompileError, called->str(), called->name);
  auto candidate = std::make_shared<Candidate>();
  candidate->trace = finished.trace();
  candidate->points = finished.sampling_points();
  candidate->added_columns = state_->added_columns;
  try {
    candidate->lowered = lower(finished.program(), state_->lower_options, state_->pipeline, observer);
  } catch (const LowerError& error) {
    return refused(FailureCause::VerifyLimits, error.reason(), error.what());
  }
  candidate->lowered_hash = lowered_hash(candidate->lowered);
  return CandidatePtr(std::move(candidate));
}

}  // namespace tunesmith
