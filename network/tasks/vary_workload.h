// Makes a workload for ranges of extents from the workloads at some of the values.
#pragma once

#include <span>
#include <string>

#include "tunesmith/network/varying.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith::network {

/// `texts`: of workloads without parameters, one for each of the finder's values. Integers that differ become
/// varying extents or affine forms of them, except the shapes of constants, which are those of the first
/// text; if none differs, the result is the workload of the text. A text that differs otherwise must lower to
/// the same program. Throws UserError for other texts, and the errors of the workload language, whose proofs
/// hold for all values. Errors name `title`.
Workload vary_workload(std::span<const std::string> texts, const FormFinder& finder,
                       std::span<const VaryingExtent> varying, const std::string& title);

}  // namespace tunesmith::network
