// Gives arrays of a twin the strides of the full shape if an instruction gets the row stride: mistakes in
// handling it show only at that stride.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "tunesmith/ir/program.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// The names of the buffers whose strides differ in corresponding
/// calls. The lowered programs have the same structure.
std::set<std::string> unequal_strides(const Program& full, const Program& smaller);

/// `smaller` with the strides that `full`, another instance of the
/// workload, has in these buffers. Null if they are too small.
std::shared_ptr<const Workload> with_strides_of(const Workload& full, const Workload& smaller,
                                                const std::set<std::string>& names);

}  // namespace tunesmith
