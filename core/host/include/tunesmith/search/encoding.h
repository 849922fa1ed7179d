// Points of a sketch as numbers, for searchers that model what they have measured.
//
// Each sampling kind encodes its own decisions (SamplingKind::encode): a tile as the logarithms of its
// factors over that of the extent, a place in the program by its depth, an ordered category by its rank, any
// other by one number for each of its values. A searcher needs to know none of that: all numbers are from 0
// to 1, and points of one sketch have encodings of one length, in which the same place stands for the same
// thing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Which sketch a trace is a point of: equal for traces whose searchable parts differ in decisions alone.
/// Costs as much as printing the trace.
uint64_t sketch_key(const Trace& trace);

/// The encodings of the decisions of `trace` at `points`, one after the other. `points` are a candidate's or
/// a sketch's; `trace` has a legal decision at each. Points of one sketch give vectors of one length.
std::vector<double> encode(std::span<const SamplingPoint> points, const Trace& trace);

/// How many points a sketch has, over the domains that are given: what one decision changes in another's
/// domain is not seen. A product, which may be beyond 2^53 and then is rounded.
double count_points(std::span<const SamplingPoint> points);

}  // namespace tunesmith
#pragma GCC visibility pop
