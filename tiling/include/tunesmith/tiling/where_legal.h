// Changes that are made where they are legal, and left out elsewhere.
#pragma once

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// Does `change(schedule)`, which is one instruction: refused, it leaves the schedule as it was. Was it done?
/// Throws ScheduleMisuse, which is wrong for every program.
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
