// Targets of records as this Tunesmith names them.
#pragma once

#include <string>

namespace tunesmith {

/// Before schema 8 a target's text (TargetIdentity::str()) had hashes of sources where versions are now.
/// Those of the last Tunesmith that wrote them are version 1, in records that are migrated, imported or sent.
/// What others made is not known to be the same, so that they stay, and their records are of other tasks.
std::string current_target(const std::string& text);

}  // namespace tunesmith
