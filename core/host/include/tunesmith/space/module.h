// Transformation modules: the interface of module plugins, and its context.
//
// A module analyses, samples and transforms one block (MetaSchedule, section 3.2).
// The kernel calls it for each block in post-order, or once at the root if its
// stage says so; it measures the time, catches exceptions and verifies the program.
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

/// The result of a module. Declining is a result, not an exception.
class [[nodiscard]] ModuleResult {
 public:
  enum class Status { Applied, NotApplicable, Broken };

  /// The module applied: one schedule, or several, which forks the space. Not
  /// empty. `reason`: why there are not more, as a constant sentence; "" for none.
  static ModuleResult applied(std::vector<Schedule> schedules, std::string reason = "");
  static ModuleResult applied(Schedule schedule);
  /// The module does not apply here. `reason` is a constant sentence: it is counted and printed.
  static ModuleResult not_applicable(std::string reason);
  /// The module broke its contract or met an impossible state: the run stops and names the plugin.
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
  Block,     // for each block, in post-order, while sketches are built; recorded in the trace
  Root,      // once for each sketch, after all Block modules, at the root; recorded
  Finishing  // once for each candidate, after replay; recorded after the marker, in the part that search does
             // not mutate
};

/// The information that a module gets. Valid during one call.
class ModuleContext {
 public:
  virtual ~ModuleContext();
  virtual const DeviceModel& device() const = 0;
  /// Levels and scopes of the machine.
  virtual const ExecutionModel& execution() const = 0;
  /// The unscheduled program.
  virtual const Program& original() const = 0;
  /// Is the extension in the space, and did its probe find the hardware? tensorize()
  /// knows the intrinsics of all extensions of the space, available or not, so ask
  /// before using them: calls that the target does not emit become plain loops.
  virtual bool has_extension(std::string_view name) const = 0;
  /// The intrinsics of the extension, in its order; none if it is not available.
  virtual std::vector<TensorIntrinsicPtr> intrinsics(std::string_view extension) const = 0;
  /// Excludes the block from later modules; `spaces explain` shows the module and the reason.
  virtual void claim(std::string_view block_name, std::string why) = 0;
};

/// One object for a whole run. apply() is called concurrently for
/// different schedules, and must not keep state between calls.
class TransformationModule {
 public:
  virtual ~TransformationModule();
  virtual ModuleStage stage() const { return ModuleStage::Block; }
  /// The module owns `schedule` and may change or clone it, through instructions only: the kernel keeps just
  /// the trace. The returned schedules must continue this trace; a newly created one would lose the
  /// work of earlier modules and is refused. `block_name` is empty for Root and Finishing modules. More than
  /// SpaceSpec::max_sketches schedules end the run, with the module's name.
  ///
  /// A ScheduleError that leaves apply() of a Block or Root module counts as NotApplicable with
  /// its reason; a ScheduleMisuse, or any other exception, is the module's mistake and ends the
  /// run with its name. A Finishing module returns one schedule, or NotApplicable; a ScheduleError
  /// that leaves it makes the candidate fail with illegal_schedule and the module's name: no
  /// half-finished candidate is measured. One that the module throws itself, with its id as the
  /// primitive, means that the candidate exceeds a limit that the module checks: verify_limits.
  virtual ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) = 0;
  /// The annotations that the module makes and consumes, and the modules that it needs. The same at every
  /// call.
  virtual ModuleDescription description() const { return {}; }
};

}  // namespace tunesmith
#pragma GCC visibility pop
