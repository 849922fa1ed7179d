#include "tunesmith/verification/verified_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tunesmith/ir/extents.h"
#include "tunesmith/support/contains.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

/// Values of wider ranges lie further apart.
constexpr int64_t kWideRange = 32;

bool is_prime(int64_t value) {
  for (int64_t divisor = 2; divisor * divisor <= value; ++divisor) {
    if (value % divisor == 0) return false;
  }
  return value > 1;
}

/// The highest below `below`; nothing where the range has none.
std::optional<int64_t> prime_below(int64_t below, int64_t lowest) {
  for (int64_t value = below - 1; value >= lowest; --value) {
    if (is_prime(value)) return value;
  }
  return std::nullopt;
}

void add(std::vector<ParameterValues>& list, ParameterValues values) {
  if (!contains(list, values)) list.push_back(std::move(values));
}

}  // namespace

std::vector<ParameterValues> verified_values(const Program& program, uint64_t seed) {
  RandomStream random(seed);
  ParameterValues lowest, highest, prime, drawn;
  for (const auto& [var, typical] : program.parameters) {
    lowest.push_back(var->lowest);
    highest.push_back(var->highest);
    prime.push_back(prime_below(var->highest, var->lowest).value_or(var->highest));
    drawn.push_back(var->lowest + static_cast<int64_t>(
                                      random.below(static_cast<uint64_t>(var->highest - var->lowest + 1))));
  }
  std::vector<ParameterValues> values;
  for (ParameterValues* one : {&lowest, &highest, &prime, &drawn}) add(values, std::move(*one));
  return values;
}

std::vector<ParameterValues> ranked_values(const Program& program) {
  std::vector<ParameterValues> values = typical_values(program);
  ParameterValues next = highest_values(program);
  for (bool lower = !next.empty(); lower;) {
    add(values, next);
    lower = false;
    for (size_t i = 0; i < next.size(); ++i) {
      const VarNode& var = *program.parameters[i].var.get();
      const int64_t step = var.highest / std::max<int64_t>(var.lowest, 1) > kWideRange ? 4 : 2;
      lower = lower || next[i] > var.lowest;
      next[i] = std::max(next[i] / step, var.lowest);
    }
  }
  return values;
}

}  // namespace tunesmith
