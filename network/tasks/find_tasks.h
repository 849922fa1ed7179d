// Finds the tasks of a network's regions.
#pragma once

#include "tunesmith/network/tasks.h"

namespace tunesmith::network {

/// Sets `tasks` and `task_of` by the regions' workloads.
void find_tasks(TaskedNetwork& tasked);

}  // namespace tunesmith::network
