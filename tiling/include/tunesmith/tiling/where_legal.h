// Changes that are made where they are legal, and left out elsewhere.
#pragma once

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// Does `change(schedule)`, and answers whether nothing was refused. One instruction that is refused leaves
/// the schedule as it was; of several, those before it are done. Throws ScheduleMisuse, which is wrong for
/// every program.
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
