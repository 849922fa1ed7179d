// Changes that are made if they are legal, and otherwise skipped.
#pragma once

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// Runs `change(schedule)` and returns whether nothing was refused. A refused
/// instruction leaves the schedule unchanged; earlier ones of several stay
/// done. Throws ScheduleMisuse, which is wrong for every program.
template <typename Change>
bool where_legal(Schedule& schedule, const Change& change) {
  try {
    change(schedule);
  } catch (const ScheduleMisuse&) {
    throw;
  } catch (const ScheduleError&) {
    return false;
  }
  return true;
}

}  // namespace stable
}  // namespace tunesmith
