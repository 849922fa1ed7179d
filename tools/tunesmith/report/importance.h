// Which decisions made the difference: how much of what sets measured programs apart goes with one of their
// decisions.
//
// Programs are divided by sketch, as decisions of different sketches are about different things. Within a
// sketch, for each number that was decided, programs are grouped by its value, and `explained` is the share
// of the variance of log seconds that lies between the groups, less what so many groups explain by chance
// (the adjusted coefficient of determination, epsilon squared; at least 0). `chance` is what the same number
// explains at the 95th percentile when the times are shuffled: what is not above it says nothing.
//
// A search is not a random sample: it tries what it believes in more often, and decisions go together. So
// this says what went with fast programs, and not what caused their speed.
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
  double seconds = 0.0;                   // of the fastest
  std::vector<DecisionEffect> decisions;  // by decreasing explained share; without those with a single value
};

/// For sketches with at least this many programs.
inline constexpr size_t kMinPrograms = 16;

/// Most programs first. The same for the same programs in the same order.
std::vector<SketchEffects> importance(std::span<const TimedTrace> programs);

/// `groups[i]` < `count` is the group of `values[i]`. 0 if
/// nothing varies, or there are not more values than groups.
double explained_variance(std::span<const double> values, std::span<const size_t> groups, size_t count);

}  // namespace tunesmith::report
