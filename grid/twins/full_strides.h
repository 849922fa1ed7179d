// Arrays of a twin that lie as those of the full shape, where an instruction is given how far rows are apart:
// what it makes of a distance shows at that distance alone.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "tunesmith/ir/program.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Names of the buffers whose strides differ in calls of instructions that correspond. The lowered programs
/// are of one structure.
std::set<std::string> unequal_strides(const Program& full, const Program& smaller);

/// `smaller` with the strides that `full`, another instance of it, has in the buffers of these names. Null
/// where they are too narrow for it.
std::shared_ptr<const Workload> with_strides_of(const Workload& full, const Workload& smaller,
                                                const std::set<std::string>& names);

}  // namespace tunesmith
