// Random index expressions and their values at every point, with which the arithmetic is compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tunesmith/affine/simplify.h>
#include <tunesmith/support/random.h>

namespace tunesmith::test {

/// A variable and its closed range.
struct Ranged {
  Var var;
  int64_t min = 0;
  int64_t max = 0;
};

/// "i in [0, 3] j in [1, 7] ".
std::string describe(const std::vector<Ranged>& vars);

using Point = std::vector<int64_t>;

/// The value of an integer or bool expression without loads at a point.
int64_t evaluate(const Expr& expr, const std::vector<Ranged>& vars, const Point& point);

/// Visits every point of the box, the last variable fastest.
void for_each_point(const std::vector<Ranged>& vars, const std::function<void(const Point&)>& visit);

Analyzer analyzer_of(const std::vector<Ranged>& vars);

/// Variables with small ranges; `from_zero` makes all minimums 0.
std::vector<Ranged> random_vars(RandomStream& random, size_t count, int64_t max_extent, bool from_zero);
Expr random_index(RandomStream& random, const std::vector<Ranged>& vars, int depth);
Expr random_condition(RandomStream& random, const std::vector<Ranged>& vars, int depth);

}  // namespace tunesmith::test
