// Programs called from Python in this process.
#pragma once

#include <memory>
#include <string>

#include <tunesmith/target/compiled_kernel.h>

#include "refs.h"

namespace tunesmith::python {

/// The result of `Record.build()`. Throws UserError if the space's programs run on a separate device.
KernelObject kernel_of(std::shared_ptr<HeldSpace> space, WorkloadPtr workload, CompiledKernel compiled,
                       int threads, std::string provenance);

}  // namespace tunesmith::python
