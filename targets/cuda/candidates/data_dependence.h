// Do a program's accesses, and their order, depend on its data?
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith::cuda {

/// May loaded values determine which elements are accessed, or how
/// often? If not, checks of accesses have the same result for all data.
bool accesses_depend_on_data(const Program& program);

}  // namespace tunesmith::cuda
