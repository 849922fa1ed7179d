// Checks a plan.
#pragma once

#include "tunesmith/network/write_library.h"

namespace tunesmith::network {

/// Throws InternalError if a buffer exceeds the memory that contains it.
void check_plan(const LibraryPlan& plan);

/// False if the kernel reads its prepared memory instead.
bool reads_buffer(const CompiledKernel& kernel, size_t position);

}  // namespace tunesmith::network
