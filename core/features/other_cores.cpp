#include "features/other_cores.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "affine/value_at.h"

namespace tunesmith::features {
namespace {

constexpr int kSamples = 32;

/// The loop whose iterations the cores share, or nothing: then the first core has all of them. A parallel
/// loop within another runs on the core that meets it.
std::optional<size_t> shared_loop(const StoreFacts& facts) {
  for (size_t i = 0; i < facts.levels.size(); ++i) {
    if (facts.is(i, LoopKind::Parallel)) return i;
  }
  return std::nullopt;
}

double core_of(const StoreFacts& facts, double iteration) {
  const std::optional<size_t> loop = shared_loop(facts);
  return loop ? std::floor(iteration * facts.machine.cores / facts.levels[*loop].trips) : 0.0;
}

/// The n-th of iterations that are spread over a loop, in another order for each level: the fractions of the
/// multiples of an irrational number.
int64_t spread(int n, size_t level, double trips) {
  const double at = (n + 0.5) * std::sqrt(static_cast<double>(3 + 4 * level));  // of no square
  return static_cast<int64_t>((at - std::floor(at)) * trips);
}

/// The iteration of the shared loop in which the access touches `element`.
std::optional<double> iteration_that_touches(const StoreFacts& facts, const Access& access, int64_t element) {
  const std::optional<size_t> shared = shared_loop(facts);
  if (!shared) return 0.0;
  struct Digit {
    int64_t weight;
    size_t level;
  };
  std::vector<Digit> digits;
  for (const LinearForm::Term& term : access.form.terms) {
    const auto level = std::ranges::find_if(
        facts.levels, [&](const Level& one) { return one.loop->var.get() == term.atom.get(); });
    if (level == facts.levels.end() || term.coefficient <= 0) return std::nullopt;
    digits.push_back({term.coefficient, static_cast<size_t>(level - facts.levels.begin())});
  }
  std::ranges::stable_sort(digits, std::ranges::greater{}, &Digit::weight);
  int64_t rest = element - access.form.constant;
  for (const Digit& digit : digits) {
    const auto last = static_cast<int64_t>(facts.levels[digit.level].trips) - 1;
    const int64_t value = std::clamp<int64_t>(rest / digit.weight, 0, std::max<int64_t>(last, 0));
    if (digit.level == *shared) return static_cast<double>(value);
    rest -= value * digit.weight;
  }
  return std::nullopt;
}

}  // namespace

double share_of_other_cores(const StoreFacts& before, const Access& earlier, const StoreFacts& facts,
                            const Access& access) {
  const double cores = std::max(facts.machine.cores, 1.0);
  const std::optional<size_t> shared = shared_loop(facts);
  if (cores == 1.0 || (!shared && !shared_loop(before))) return 0.0;
  int elsewhere = 0;
  Point point;
  for (const Level& level : facts.levels) point.emplace_back(level.loop->var, 0);
  for (int n = 0; n < kSamples; ++n) {
    for (size_t i = 0; i < point.size(); ++i) point[i].second = spread(n, i, facts.levels[i].trips);
    const std::optional<int64_t> element = value_at(point, access.index);
    const std::optional<double> iteration =
        element ? iteration_that_touches(before, earlier, *element) : std::nullopt;
    if (!iteration) return 1.0 - 1.0 / cores;
    const double core = shared ? core_of(facts, static_cast<double>(point[*shared].second)) : 0.0;
    if (core_of(before, *iteration) != core) ++elsewhere;
  }
  return static_cast<double>(elsewhere) / kSamples;
}

}  // namespace tunesmith::features
