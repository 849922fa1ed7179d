// Helpers of the commands on recorded tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <tunesmith/evaluation/replay.h>

#include "session.h"

namespace tunesmith::cli {

/// The size of a round of an enumeration. A decision that changes the domains of later ones wastes the rest
/// of the round.
inline constexpr int64_t kEnumeratedBatch = 32;

/// A searcher without options, for a space that is only enumerated.
SpaceSpec exhaustive_space(const Table& table);

/// The programs of a space on a table's target, by lowered hash in the order in which they are enumerated;
/// at most `most`. Nothing is compiled. `space`: of exhaustive_space().
std::vector<uint64_t> enumerate_programs(const Table& table, const Space& space, int64_t most,
                                         const std::atomic<bool>* stop);

/// "512 programs, 3 of them failed, 498 us to 20.1 ms, two rounds differ by 1.2 % (median)".
std::string table_text(const Table& table);

}  // namespace tunesmith::cli
