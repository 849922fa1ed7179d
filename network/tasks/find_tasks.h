// Which regions of a network are one task.
#pragma once

#include "tunesmith/network/tasks.h"

namespace tunesmith::network {

/// Sets `tasks` and `task_of` by the workloads of the regions.
void find_tasks(TaskedNetwork& tasked);

}  // namespace tunesmith::network
