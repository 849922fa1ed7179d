// Programs that are called from Python, in this process.
#pragma once

#include <memory>
#include <string>

#include <tunesmith/target/compiled_kernel.h>

#include "refs.h"

namespace tunesmith::python {

/// What `Record.build()` answers. Throws UserError where the space's programs run on a device of their own.
KernelObject kernel_of(std::shared_ptr<HeldSpace> space, WorkloadPtr workload, CompiledKernel compiled,
                       int threads, std::string provenance);

}  // namespace tunesmith::python
