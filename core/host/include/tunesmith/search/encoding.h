// Encodes points of a sketch as numbers, for searchers that model measured times.
//
// Each sampling kind encodes its own decisions (SamplingKind::encode): a tile as the
// logarithms of its factors divided by that of the extent, a location by its depth,
// an ordered category by its rank, any other by one number per value. A searcher
// needs to know none of that: all numbers are from 0 to 1, and the points of one
// sketch have encodings of equal length, in which each position has a fixed meaning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Identifies the sketch of a trace: equal for traces whose searchable
/// parts differ only in decisions. Costs as much as printing the trace.
uint64_t sketch_key(const Trace& trace);

/// The concatenated encodings of the decisions of `trace` at `points`, which are those of a candidate or
/// sketch; `trace` must have a legal decision at each. All points of one sketch give vectors of equal length.
std::vector<double> encode(std::span<const SamplingPoint> points, const Trace& trace);

/// The number of points of a sketch over the given domains, ignoring that one
/// decision may change the domain of another. A product, rounded beyond 2^53.
double count_points(std::span<const SamplingPoint> points);

}  // namespace tunesmith
#pragma GCC visibility pop
