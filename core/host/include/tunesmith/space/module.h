// Transformation modules: the interface that a module plugin implements, and its context.
//
// A module is analysis, sampling and transformation over one block (MetaSchedule, section 3.2). It is called
// for each block in post-order, or once at the root when its stage says so, from one place in the kernel that
// times it, catches what it throws and verifies the program.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/space/module_description.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The answer of a module. A refusal is an answer, not an exception.
class [[nodiscard]] ModuleResult {
 public:
  enum class Status { Applied, NotApplicable, Broken };

  /// The module did its work: one schedule, or several, which forks the space. Not empty. `reason`: why there
  /// are not more of them, a constant sentence as that of not_applicable; "" where there is nothing to say.
  static ModuleResult applied(std::vector<Schedule> schedules, std::string reason = "");
  static ModuleResult applied(Schedule schedule);
  /// Nothing for it to do here. `reason` is a constant sentence: it is counted and printed.
  static ModuleResult not_applicable(std::string reason);
  /// The module broke its contract or met the impossible: the run stops and names the plugin.
  static ModuleResult broken(std::string reason);

  Status status() const { return status_; }
  const std::string& reason() const { return reason_; }
  std::vector<Schedule>& schedules() { return schedules_; }

 private:
  Status status_ = Status::NotApplicable;
  std::string reason_;
  std::vector<Schedule> schedules_;
};

/// When the space applies a module.
enum class ModuleStage : uint8_t {
  Block,     // to each block, in post-order, building the sketches; its instructions are in the trace
  Root,      // once for each sketch, after all Block modules, at the root; in the trace
  Finishing  // once for each candidate, after replay; behind the marker of its trace, where nothing is
             // mutated
};

/// What a module may know. Valid during one call.
class ModuleContext {
 public:
  virtual ~ModuleContext();
  virtual const DeviceModel& device() const = 0;
  /// Levels and scopes of the machine.
  virtual const ExecutionModel& execution() const = 0;
  /// The program before any module.
  virtual const Program& original() const = 0;
  /// Is the extension of this name in the space, and did its probe find the hardware? tensorize() knows the
  /// intrinsics of every extension of the space, here or not, so ask before using them: calls that the target
  /// does not emit become plain loops.
  virtual bool has_extension(std::string_view name) const = 0;
  /// Those that the extension gives to the target, in its order; none where it is not here.
  virtual std::vector<TensorIntrinsicPtr> intrinsics(std::string_view extension) const = 0;
  /// Keeps modules after this one away from the block: who and why are shown by `spaces explain`.
  virtual void claim(std::string_view block_name, std::string why) = 0;
};

/// One object for a whole run. apply() is called from several threads at once for different schedules, and
/// must not keep state between calls.
class TransformationModule {
 public:
  virtual ~TransformationModule();
  virtual ModuleStage stage() const { return ModuleStage::Block; }
  /// `schedule` is the module's own to change or to clone, through its instructions only: its trace is all
  /// that is kept, and what is answered continues it (a schedule made anew would drop what the modules before
  /// did, and is refused). For Root and Finishing modules `block_name` is empty. More than
  /// SpaceSpec::max_sketches schedules end the run, with the module's name.
  ///
  /// A ScheduleError that leaves apply() counts as NotApplicable with its reason for Block and Root modules;
  /// a ScheduleMisuse is the module's mistake and ends the run with its name, as everything else does that is
  /// thrown. A Finishing module answers one schedule, or NotApplicable when there is nothing for it to do; a
  /// ScheduleError that leaves it makes the candidate a failure, illegal_schedule, that names the module: no
  /// candidate is measured half finished. One that the module throws itself, with its id as the primitive,
  /// says that the candidate exceeds what the module is there to hold it to: verify_limits.
  virtual ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) = 0;
  /// Which annotations it makes and consumes, and which modules it needs. The same at every call.
  virtual ModuleDescription description() const { return {}; }
};

}  // namespace tunesmith
#pragma GCC visibility pop
