// Schedules as plugins of the stable tier get them, for tests that include nothing else of the kernel.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// A schedule of the workload "gmm:n=16,m=16,k=8". Its tensorize() knows the intrinsics of unit.yaml.
tunesmith_schedule* make_schedule(const char* workload);

}  // namespace tunesmith_test
