// Converts targets of old records to the current form.
#pragma once

#include <string>

namespace tunesmith {

/// Before schema 8 a target's text (TargetIdentity::str()) had hashes of sources instead of versions. In
/// migrated, imported or sent records the hashes of the last such version of Tunesmith become version 1.
/// Others stay, since their code is unknown, and their records belong to other tasks.
std::string current_target(const std::string& text);

}  // namespace tunesmith
