// Looks up parts of a program that callers name; an unknown part is the caller's mistake.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/handles.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith::api {

const Program& program_of(const tunesmith_program* program, std::string_view call);
const Block& block_of(const tunesmith_program* program, uint32_t id, std::string_view call);
/// `sort` is a tunesmith_access_sort.
std::vector<Access> accesses_of(const Block& block, uint32_t sort);

}  // namespace tunesmith::api
