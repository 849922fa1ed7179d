// Reports blocks that a space leaves plain.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/tuning/plain_blocks.h>

namespace tunesmith::cli {

/// A list of objects with `block`, `share`, `sketches` and `declined`, a list of `module` and `reason`.
nlohmann::json plain_json(std::span<const PlainBlock> blocks);

/// "block A has 49.9 % of the work, and 9 of 27 sketches leave it plain", and a line for each module that
/// declined.
std::string plain_text(const PlainBlock& block, size_t all_sketches);

/// Reports by say() the blocks that all sketches leave plain. `task`: its name if there are several tasks,
/// else "".
void tell_plain(std::span<const PlainBlock> blocks, const std::string& task);

}  // namespace tunesmith::cli
