// Evaluates expressions for given values of their variables.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tunesmith/ir/expr.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Values of variables.
using Point = std::vector<std::pair<Var, int64_t>>;

/// The value of one lane of an integer or bool expression. Nothing if a subexpression has another type, loads
/// from memory, or uses a variable without a value.
std::optional<int64_t> value_at(const Point& point, const Expr& expr, int lane = 0);

}  // namespace tunesmith
#pragma GCC visibility pop
