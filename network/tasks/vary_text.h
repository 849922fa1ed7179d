// The text of a workload for ranges of extents, of its texts at some of the values.
#pragma once

#include <span>
#include <string>

#include "tunesmith/network/varying.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith::network {

/// `texts`: one for each of the finder's values. Integers that differ are what varies, or sums of it, but for
/// the shapes of constants, which are those of the first; where none does, the workload is that of the text.
/// A text that differs otherwise must be that of the same program once it is lowered. Throws UserError for
/// any other, and what the workload language says of the whole, whose proofs hold for all values. `title` is
/// named in errors.
Workload vary_text(std::span<const std::string> texts, const FormFinder& finder,
                   std::span<const VaryingExtent> varying, const std::string& title);

}  // namespace tunesmith::network
