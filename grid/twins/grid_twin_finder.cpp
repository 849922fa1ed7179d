#include "twins/grid_twin_finder.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "tunesmith/grid/twins.h"
#include "tunesmith/intrinsics/matrix_product.h"
#include "tunesmith/support/error.h"
#include "tunesmith/workload/library.h"
#include "twins/corresponding_loops.h"
#include "twins/full_strides.h"
#include "twins/one_structure.h"
#include "twins/trace_for_shape.h"

namespace tunesmith {
namespace {

/// A call with this many operations, or bytes moved, is not shrunk further: a product of 64 x 64 x 64.
constexpr double kLittleWork = 1 << 19;
/// A pipelined loop keeps one iteration more than its maximum number
/// of stages, so that the first fetched data are overwritten.
constexpr int64_t kMaxStages = 4;
/// The number of values tried for one parameter.
constexpr size_t kMaxValues = 8;

double work_of(const Workload& workload) { return std::max(workload.flops, workload.bytes_min); }

/// A tile keeps all factors except the outermost; other decisions do not change.
bool decisions_kept(const Schedule& full, const Schedule& smaller) {
  return std::ranges::equal(
      full.sampling_points(), smaller.sampling_points(), [&](const SamplingPoint& a, const SamplingPoint& b) {
        if (a.position != b.position) return false;
        const Decision& wanted = *full.trace()[a.position].decision;
        const Decision& taken = *smaller.trace()[b.position].decision;
        if (a.domain.parts < 1) return wanted == taken;
        // Loops of a launch may be fused, so their extents are not conclusive.
        return wanted.size() == taken.size() && taken.front() >= std::min(wanted.front(), kMinBound) &&
               std::equal(wanted.begin() + 1, wanted.end(), taken.begin() + 1);
      });
}

std::vector<int64_t> extents_of(const Program& program) {
  std::vector<int64_t> extents;
  for (const Block* block : program.blocks()) {
    for (const IterVar& iter : block->iters) extents.push_back(iter.extent);
    MatrixProduct product;
    if (match_matrix_product(*block, &product).empty())
      extents.insert(extents.end(), product.extents.begin(), product.extents.end());
  }
  return extents;
}

std::optional<int64_t> integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

struct GridTwinFinder::Original {
  const Candidate& candidate;
  Schedule schedule;
  TraceForShape trace;
};

GridTwinFinder::GridTwinFinder(const Workload& workload, const Space& space)
    : workload_(workload), space_(space), independent_launches_(workload, space.target().execution()) {
  if (workload.definition.empty()) return;
  const auto [name, given] = parse_workload_text(workload.key);
  definition_ = WorkloadDefinition::parse(workload.definition, name);
  given_ = given;
  for (size_t i = 0; i < given_.size(); ++i) {
    const std::optional<int64_t> value = integer(given_[i].second);
    if (!value || *value < 2) continue;
    params_.push_back(i);
    own_.push_back(*value);
  }
}

const GridTwinFinder::Instance& GridTwinFinder::instance(const Values& values) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = instances_.find(values); found != instances_.end()) return found->second;
  }
  std::vector<ParamText> given = given_;
  for (size_t i = 0; i < values.size(); ++i) given[params_[i]].second = std::to_string(values[i]);
  Instance made;
  try {
    made.workload = std::make_shared<const Workload>(definition_->instantiate(given));
    made.extents = extents_of(made.workload->program);
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): these values make no workload
  }
  const std::lock_guard lock(mutex_);
  return instances_.emplace(values, std::move(made)).first->second;
}

/// Descending, except for the first ones. A tile loses steps in proportion
/// to the parameter that determines its extent, so halving finds the value
/// with the wanted number of steps. For a parameter without tiles, halves.
std::vector<int64_t> GridTwinFinder::smaller_values(const Original& original, const Values& values,
                                                    size_t param) const {
  const int64_t value = values[param];
  const std::vector<int64_t>& own = instance(own_).extents;
  const std::vector<int64_t>& now = instance(values).extents;
  std::set<int64_t, std::greater<>> found;
  std::vector<int64_t> first;
  const auto insert = [&](size_t position, int64_t extent, bool before_others = false) {
    Values next = values;
    const auto reaches = [&](int64_t tried) {
      next[param] = tried;
      const std::vector<int64_t>& there = instance(next).extents;
      return position < there.size() ? there[position] : 0;
    };
    int64_t low = 0;  // gives less than `extent`, or no valid workload
    int64_t high = value;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (reaches(middle) >= extent ? high : low) = middle;
    }
    if (reaches(high) != extent || high >= value || high < 1) return;
    if (!found.insert(high).second) return;
    if (before_others) first.push_back(high);
  };
  // Where iterators are fused, a digit of the sum is divided by
  // tiles: an extent with another power of two gives a simpler text.
  if (original.trace.fuses()) {
    for (size_t position = 0; position < std::min(own.size(), now.size()); ++position) {
      const int64_t power = own[position] & -own[position];
      for (const int64_t odd : {3, 5}) {
        if (power > 1 && power * odd < now[position]) insert(position, power * odd, true);
      }
    }
  }
  std::set<std::pair<size_t, int64_t>> seen;  // positions, and the results of one step
  for (const SamplingPoint& point : original.candidate.points) {
    if (point.domain.parts < 1) continue;
    const int64_t extent = point.domain.extent;
    const int64_t steps = original.candidate.trace[point.position].decision->front();
    const bool exact = std::ranges::find(own, extent) != own.end();
    for (size_t position = 0; position < std::min(own.size(), now.size()); ++position) {
      // A tile may be of tiles of an intrinsic.
      const int64_t scale = exact ? 1 : (own[position] + extent - 1) / extent;
      const int64_t step = scale * (extent / steps);
      if (extent != (own[position] + scale - 1) / scale || !seen.emplace(position, step).second) continue;
      const int64_t steps_now = steps - (own[position] - now[position]) / step;
      const auto keep = [&](int64_t left) { insert(position, now[position] - step * (steps_now - left)); };
      for (int64_t left = steps_now; left > kMinBound;) keep(left = (left + 1) / 2);
      for (int64_t left = kMinSerial; left <= kMaxStages + 1; ++left) keep(left);
    }
  }
  if (found.empty()) {
    for (int64_t half = value; half % 2 == 0; half /= 2) found.insert(half / 2);
  }
  std::ranges::copy_if(found, std::back_inserter(first),
                       [&](int64_t smaller) { return std::ranges::find(first, smaller) == first.end(); });
  return first;
}

bool GridTwinFinder::applies(const Original& original, const Values& values) const {
  const std::shared_ptr<const Workload>& smaller = instance(values).workload;
  if (smaller == nullptr) return false;
  const std::optional<Trace> trace = original.trace.of(smaller->program);
  if (!trace) return false;
  const auto schedule = replay(smaller->program, *trace, RandomStream(0), nullptr, space_.intrinsics());
  return schedule && decisions_kept(original.schedule, *schedule) &&
         loops_correspond(original.schedule.program(), schedule->program(), space_.target().execution());
}

std::optional<GridTwin> GridTwinFinder::twin_at(const Original& original, const Values& values,
                                                const Spread& spread) const {
  std::shared_ptr<const Workload> smaller = instance(values).workload;
  if (!spread.empty()) smaller = with_strides_of(workload_, *smaller, spread);
  if (smaller == nullptr) return std::nullopt;
  const Candidate& candidate = original.candidate;
  auto twin = space_.materialise(smaller->program, *original.trace.of(smaller->program), RandomStream(0));
  if (!twin) return std::nullopt;
  std::vector<size_t> apart;
  if (!have_one_structure(candidate.lowered, (*twin)->lowered, space_.target())) {
    apart = independent_launches_.proven(candidate.lowered.program);
    if (apart.empty() || !have_one_structure(candidate.lowered, (*twin)->lowered, space_.target(), apart))
      return std::nullopt;
  }
  if (!spread.empty() && !unequal_strides(candidate.lowered.program, (*twin)->lowered.program).empty())
    return std::nullopt;
  return GridTwin{{smaller, std::move(*twin)}, std::move(apart)};
}

GridTwinFinder::Values GridTwinFinder::shrink(const Original& original, const Passes& passes) const {
  Values values = own_;
  std::vector<bool> stuck(params_.size());
  while (work_of(*instance(values).workload) > kLittleWork) {
    size_t param = params_.size();
    for (size_t i = 0; i < params_.size(); ++i) {
      if (!stuck[i] && (param == params_.size() || values[i] > values[param])) param = i;
    }
    if (param == params_.size()) break;
    stuck[param] = true;
    size_t tried = 0;
    for (const int64_t smaller : smaller_values(original, values, param)) {
      if (++tried > kMaxValues) break;
      Values next = values;
      next[param] = smaller;
      if (!passes(next)) continue;
      values = std::move(next);
      stuck[param] = false;
      break;
    }
  }
  return values;
}

std::optional<GridTwin> GridTwinFinder::smallest_twin(const Original& original, const Spread& spread) const {
  const auto applies_at = [&](const Values& values) { return applies(original, values); };
  const Values smallest = shrink(original, applies_at);
  if (smallest == own_) return std::nullopt;
  if (std::optional<GridTwin> twin = twin_at(original, smallest, spread)) return twin;
  // Rare: properties that only lowering reveals are checked at each step.
  std::optional<GridTwin> found;
  shrink(original, [&](const Values& values) {
    if (!applies_at(values)) return false;
    std::optional<GridTwin> twin = twin_at(original, values, spread);
    if (!twin) return false;
    found = std::move(twin);
    return true;
  });
  return found;
}

std::optional<GridTwin> GridTwinFinder::find_grid_twin(const Candidate& candidate) const {
  if (params_.empty() || work_of(workload_) <= kLittleWork) return std::nullopt;
  auto schedule = replay(workload_.program, candidate.trace, RandomStream(0), nullptr, space_.intrinsics());
  check_invariant(schedule.has_value(), "a candidate's trace applies to its workload");
  const Original original{
      candidate, std::move(*schedule), {workload_.program, candidate.trace, space_.intrinsics()}};
  std::optional<GridTwin> twin = smallest_twin(original, {});
  if (!twin) return std::nullopt;
  const Spread spread = unequal_strides(candidate.lowered.program, twin->candidate->lowered.program);
  return spread.empty() ? std::move(twin) : smallest_twin(original, spread);
}

std::unique_ptr<ReducedInstanceFinder> make_grid_twin_finder(const Workload& workload, const Space& space) {
  return std::make_unique<GridTwinFinder>(workload, space);
}

}  // namespace tunesmith
