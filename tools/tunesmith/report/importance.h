// Estimates how much of the variation among measured programs each decision explains.
//
// Programs are divided by sketch, since sketches have different decisions. Within a sketch, for each decided
// number, programs are grouped by its value. `explained` is the share of the variance of log seconds between
// the groups, corrected for what as many groups explain by chance (the adjusted coefficient of determination,
// epsilon squared; at least 0). `chance` is the 95th percentile of that share when the times are shuffled: a
// lower `explained` is not significant.
//
// A search is not a random sample: it tries promising values more often, and decisions correlate. The shares
// show association with fast programs, not causes of their speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tunesmith/trace/trace.h>

namespace tunesmith::report {

struct TimedTrace {
  Trace trace;
  double seconds = 0.0;  // positive
};

struct ValueEffect {
  std::string value;
  size_t programs = 0;
  double seconds = 0.0;  // geometric mean
};

struct DecisionEffect {
  std::string decision;
  double explained = 0.0;
  double chance = 0.0;
  std::vector<ValueEffect> values;  // fastest first
};

struct SketchEffects {
  uint64_t sketch = 0;  // sketch_key()
  size_t programs = 0;
  double seconds = 0.0;                   // of the fastest program
  std::vector<DecisionEffect> decisions;  // by decreasing `explained`; without single-valued ones
};

/// Sketches with fewer programs are left out.
inline constexpr size_t kMinPrograms = 16;

/// Sketches with most programs first. Deterministic for the same programs in the same order.
std::vector<SketchEffects> importance(std::span<const TimedTrace> programs);

/// `groups[i]` < `count` is the group of `values[i]`. 0 if
/// nothing varies, or there are not more values than groups.
double explained_variance(std::span<const double> values, std::span<const size_t> groups, size_t count);

}  // namespace tunesmith::report
