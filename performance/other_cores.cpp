#include "other_cores.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "tunesmith/affine/value_at.h"

namespace tunesmith::features {
namespace {

constexpr int kSamples = 32;

/// The loop whose iterations the cores share; if none, the first core
/// runs all. A nested parallel loop runs on the core that reaches it.
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

/// The n-th of quasi-random iterations of a loop, in a different order for each level: the fractional parts
/// of multiples of an irrational number.
int64_t spread(int n, size_t level, double trips) {
  const double at = (n + 0.5) * std::sqrt(static_cast<double>(3 + 4 * level));  // of a non-square number
  return static_cast<int64_t>((at - std::floor(at)) * trips);
}

/// A digit of an element's index: the iteration of one loop.
struct Digit {
  int64_t weight;
  int64_t last;  // its largest value
  bool shared;   // the loop whose iterations the cores share
};

/// The digits by decreasing weight; empty if no loop is shared. Nothing if the index has no unique digits.
std::optional<std::vector<Digit>> digits_of(const StoreFacts& facts, const Access& access) {
  const std::optional<size_t> shared = shared_loop(facts);
  std::vector<Digit> digits;
  if (!shared) return digits;
  for (const LinearForm::Term& term : access.form.terms) {
    const auto level = std::ranges::find_if(
        facts.levels, [&](const Level& one) { return one.loop->var.get() == term.atom.get(); });
    if (level == facts.levels.end() || term.coefficient <= 0) return std::nullopt;
    const bool is_shared = level - facts.levels.begin() == static_cast<std::ptrdiff_t>(*shared);
    digits.push_back(
        {term.coefficient, std::max<int64_t>(static_cast<int64_t>(level->trips) - 1, 0), is_shared});
  }
  if (std::ranges::none_of(digits, &Digit::shared)) return std::nullopt;
  std::ranges::stable_sort(digits, std::ranges::greater{}, &Digit::weight);
  return digits;
}

/// The shared digit of `number`; 0 if no loop is shared.
double shared_digit(const std::vector<Digit>& digits, int64_t number) {
  for (const Digit& digit : digits) {
    const int64_t value = std::clamp<int64_t>(number / digit.weight, 0, digit.last);
    if (digit.shared) return static_cast<double>(value);
    number -= value * digit.weight;
  }
  return 0.0;
}

}  // namespace

double share_of_other_cores(const StoreFacts& before, const Access& earlier, const StoreFacts& facts,
                            const Access& access) {
  const double cores = std::max(facts.machine.cores, 1.0);
  const std::optional<size_t> shared = shared_loop(facts);
  if (cores == 1.0 || (!shared && !shared_loop(before))) return 0.0;
  const double by_chance = 1.0 - 1.0 / cores;
  const std::optional<std::vector<Digit>> digits = digits_of(before, earlier);
  if (!digits) return by_chance;
  int elsewhere = 0;
  Point point;
  for (const Level& level : facts.levels) point.emplace_back(level.loop->var, 0);
  for (int n = 0; n < kSamples; ++n) {
    for (size_t i = 0; i < point.size(); ++i) point[i].second = spread(n, i, facts.levels[i].trips);
    const std::optional<int64_t> element = value_at(point, access.index);
    if (!element) return by_chance;
    const double core = shared ? core_of(facts, static_cast<double>(point[*shared].second)) : 0.0;
    if (core_of(before, shared_digit(*digits, *element - earlier.form.constant)) != core) ++elsewhere;
  }
  return static_cast<double>(elsewhere) / kSamples;
}

}  // namespace tunesmith::features
