// Whether what a program accesses, and in which order, is known without its data.
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith::cuda {

/// May it depend on loaded values which elements are accessed, or how often? Where it does not, checks of
/// accesses find the same whatever the data are.
bool accesses_depend_on_data(const Program& program);

}  // namespace tunesmith::cuda
