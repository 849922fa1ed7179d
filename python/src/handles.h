// Variables of a schedule's trace in Python.
#pragma once

#include <memory>

#include <tunesmith/trace/handles.h>
#include <tunesmith/trace/instruction.h>

#include "refs.h"

namespace tunesmith::python {

struct Handle {
  TraceVar variable;
  std::shared_ptr<const int> family;  // identifies the schedules that it fits
};
struct BlockHandle : Handle {};
struct LoopHandle : Handle {};
struct IntHandle : Handle {};

/// Throws UserError for a handle of another schedule.
void require_own(const Handle& handle, const ScheduleRef& schedule);

/// Every primitive of the kernel and of plugins as a method of Schedule, by its name.
void bind_primitives(nb::module_& module, nb::class_<ScheduleRef>& schedule);

/// Queries of modules about blocks and loops, as methods of Schedule.
void bind_questions(nb::module_& module, nb::class_<ScheduleRef>& schedule);

}  // namespace tunesmith::python
