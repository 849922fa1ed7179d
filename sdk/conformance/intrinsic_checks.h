// Of tensor intrinsics, which extensions bring.
#pragma once

#include <memory>

#include "tunesmith/target/target.h"
#include "verdict.h"

namespace tunesmith::conformance {

/// Does a call of each intrinsic that `extension` adds compute its semantics: as it is lowered, by the
/// interpreter; and where the hardware is here as `base` compiles it, on exact and on random data? A fault
/// names file and line of the implementation.
Verdict check_intrinsics(const std::shared_ptr<Target>& base, const TargetExtension& extension);

}  // namespace tunesmith::conformance
