// Checks the tensor intrinsics of extensions.
#pragma once

#include <memory>

#include "tunesmith/target/target.h"
#include "verdict.h"

namespace tunesmith::conformance {

/// Does a call of each intrinsic of `extension` compute its semantics: as lowered,
/// in the interpreter; and, if the hardware is available, as `base` compiles it,
/// on exact and random data? A failure names file and line of the implementation.
Verdict check_intrinsics(const std::shared_ptr<Target>& base, const TargetExtension& extension);

}  // namespace tunesmith::conformance
