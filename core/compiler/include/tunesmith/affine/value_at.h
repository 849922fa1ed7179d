// The value of an expression at a point.
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

/// Of an integer or bool expression, in one of its lanes; nothing when it has parts that are neither, loads
/// from memory, or speaks of a variable that has no value.
std::optional<int64_t> value_at(const Point& point, const Expr& expr, int lane = 0);

}  // namespace tunesmith
#pragma GCC visibility pop
