// The calls of a kernel that are timed, and its preparation for them.
#pragma once

#include <memory>

#include "worker/argument_memory.h"
#include "worker/prepared_memory.h"
#include "worker/time_kernel.h"

namespace tunesmith {

/// On these buffers. `prepared` and `workspace` may be null.
KernelCall timed_call(LoadedKernel& loaded, const CompiledKernel& kernel, const ArgumentMemory& timed,
                      const PreparedMemory* prepared, const GuardedBuffer* workspace,
                      tunesmith_runtime_pool* pool);

/// Prepares from the current inputs; returns the seconds.
double prepare_into(PreparedMemory& prepared, const LoadedKernel& loaded, const PrepareStep& step,
                    const ArgumentMemory& timed, void* workspace, tunesmith_runtime_pool* pool);

/// Null if the kernel prepares nothing. Throws EnvironmentError if there is not enough memory.
std::unique_ptr<PreparedMemory> prepare(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                        const ArgumentMemory& timed, const GuardedBuffer* workspace,
                                        tunesmith_runtime_pool* pool, double& seconds);

}  // namespace tunesmith
