// What must hold of a plan.
#pragma once

#include "tunesmith/network/write_library.h"

namespace tunesmith::network {

/// Throws InternalError for a plan whose buffers lie outside of what they lie in.
void check_plan(const LibraryPlan& plan);

/// False of what a kernel reads in its prepared memory instead.
bool reads_buffer(const CompiledKernel& kernel, size_t position);

}  // namespace tunesmith::network
