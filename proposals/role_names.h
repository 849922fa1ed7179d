// The names of arrays' roles in the text of sequences.
#pragma once

#include <array>
#include <string_view>

#include "tunesmith/proposals/sequence.h"

namespace tunesmith::sequence {

inline constexpr std::array<std::string_view, 4> kRoles = {"input", "constant", "output", "intermediate"};

inline std::string_view role_name(SequenceArray::Role role) { return kRoles[static_cast<size_t>(role)]; }

}  // namespace tunesmith::sequence
