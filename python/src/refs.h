// The state of Python objects: kernel values with what keeps them alive.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tunesmith/ir/program.h>
#include <tunesmith/lower/lower.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/workload/workload.h>

#include "session.h"
#include "types.h"

namespace tunesmith::python {

namespace nb = nanobind;

using WorkloadPtr = std::shared_ptr<const Workload>;
using IntrinsicsPtr = std::shared_ptr<const TensorIntrinsics>;

struct WorkloadRef {
  WorkloadPtr value;
};

/// The inputs of a space's composition, for a pickle.
struct SpaceSource {
  std::string file;  // absolute; "": the one that comes with Tunesmith
  std::string name;
  std::vector<std::string> plugin_paths;  // absolute
};

/// A space with the plugins that it was composed of.
struct HeldSpace {
  HeldSpace(const cli::Common& common, SpacesFile file);

  SpaceSource source;
  cli::Session session;
  std::unique_ptr<Space> space;
  /// For operations of the target that need one thread at a time: load.
  std::mutex target;
};
struct SpaceRef {
  std::shared_ptr<HeldSpace> value;
};
/// Throws as Space.load() does.
std::shared_ptr<HeldSpace> composed(const SpaceSource& source);

/// The space of a result: composed on demand for a result from a pickle.
class OriginalSpace {
 public:
  OriginalSpace() = default;
  explicit OriginalSpace(std::shared_ptr<HeldSpace> held) : source_(held->source), held_(std::move(held)) {}
  explicit OriginalSpace(SpaceSource source) : source_(std::move(source)) {}

  const SpaceSource& source() const { return source_; }
  const std::shared_ptr<HeldSpace>& held() const {
    if (!held_) held_ = composed(source_);
    return held_;
  }

 private:
  SpaceSource source_;
  mutable std::shared_ptr<HeldSpace> held_;  // null: not yet requested
};

struct TraceRef {
  Trace value;
  WorkloadPtr workload;      // for which it was made; null: unknown
  IntrinsicsPtr intrinsics;  // that it calls by name; null: those of the process
};

/// Exactly one of the two is set.
struct ProgramRef {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const LoweredProgram> lowered;

  const Program& shown() const { return lowered ? lowered->program : *program; }
};

struct ScheduleRef {
  std::shared_ptr<Schedule> value;
  WorkloadPtr workload;  // null: unknown
  IntrinsicsPtr intrinsics;
  std::shared_ptr<const int> family;  // identifies the schedules that its handles fit; clones share it
};

struct BufferRef {
  Buffer value;
};
ListOf<BufferRef> buffers_of(const std::vector<Buffer>& buffers);

inline std::optional<WorkloadRef> workload_or_none(const WorkloadPtr& workload) {
  return workload ? std::optional(WorkloadRef{workload}) : std::nullopt;
}

/// From a str or a path.
std::string path_from(nb::handle object);

/// From such an object, or a text that names one.
WorkloadRef workload_from(nb::handle object);
SpaceRef space_from(nb::handle object);

void bind_workload(nb::module_& module);
void bind_space(nb::module_& module);
void bind_trace(nb::module_& module);
void bind_schedule(nb::module_& module);
void bind_program(nb::module_& module);
void bind_records(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_tune(nb::module_& module);
void bind_result(nb::module_& module);
void bind_tune_many(nb::module_& module);
void bind_task(nb::module_& module);
void bind_search(nb::module_& module);
void bind_machine(nb::module_& module);

}  // namespace tunesmith::python
