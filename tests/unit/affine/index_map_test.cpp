#include "affine/index_map.h"

#include <functional>

#include <gtest/gtest.h>

#include <tunesmith/affine/simplify.h>

namespace tunesmith {
namespace {

int64_t value_at(const Expr& expr, const Substitution& point) {
  int64_t value = -1;
  EXPECT_TRUE(as_const_int(Analyzer().simplify(substitute(expr, point)), &value));
  return value;
}

/// Visits `results` at every point of the box, whose coordinates replace `params`.
void for_each_point(const std::vector<Var>& params, const std::vector<int64_t>& extents,
                    const std::function<void(const std::vector<int64_t>&, const Substitution&)>& visit) {
  int64_t points = 1;
  for (const int64_t extent : extents) points *= extent;
  for (int64_t p = 0; p < points; ++p) {
    std::vector<int64_t> point;
    Substitution at;
    int64_t rest = p;
    for (size_t i = 0; i < params.size(); ++i) {
      point.push_back(rest % extents[i]);
      at.set(params[i], point.back());
      rest /= extents[i];
    }
    visit(point, at);
  }
}

void expect_turns_round(const IndexMap& map, const std::vector<int64_t>& extents) {
  MapImage image;
  ASSERT_EQ(check_index_map(map, extents, &image), "");
  ASSERT_TRUE(image.onto);
  for_each_point(map.params, extents, [&](const std::vector<int64_t>& point, const Substitution& at) {
    std::vector<Expr> values;
    for (const Expr& result : map.results) values.emplace_back(value_at(result, at));
    const auto inverse = map.invert(extents, values);
    ASSERT_TRUE(inverse.has_value());
    for (size_t i = 0; i < point.size(); ++i) EXPECT_EQ(value_at((*inverse)[i], {}), point[i]);
  });
}

TEST(IndexMap, IsTurnedRoundAtEveryPoint) {
  const Var i("i"), j("j");
  expect_turns_round({{i, j}, {j, i}}, {3, 5});
  expect_turns_round({{i, j}, {i * 5 + j}}, {3, 5});
  expect_turns_round({{i, j}, {floordiv(i, 4), j, floormod(i, 4)}}, {12, 5});
  expect_turns_round({{i, j}, {floordiv(j, 2) * 3 + i, floormod(j, 2)}}, {3, 8});
  expect_turns_round({{i}, {floordiv(i, 6), floormod(floordiv(i, 2), 3), floormod(i, 2)}}, {24});
}

TEST(IndexMap, ImagesAndWhatIsNone) {
  const Var i("i"), j("j");
  MapImage image;
  EXPECT_EQ(check_index_map({{i, j}, {i * 8 + j}}, std::vector<int64_t>{3, 5}, &image), "");
  EXPECT_EQ(image.extents, (std::vector<int64_t>{21}));
  EXPECT_FALSE(image.onto);
  EXPECT_EQ(check_index_map({{i, j}, {i + j}}, std::vector<int64_t>{3, 5}, &image),
            "the index map is not one-to-one");
  EXPECT_EQ(check_index_map({{i, j}, {i - 1, j}}, std::vector<int64_t>{3, 5}, &image),
            "the index map gives a negative index");
  EXPECT_EQ(check_index_map({{i}, {i}}, std::vector<int64_t>{3, 5}, &image),
            "the index map has another number of parameters");
  const std::vector<Expr> value{Expr(4)};
  EXPECT_FALSE((IndexMap{{i}, {i * 2}}).invert(std::vector<int64_t>{3}, value).has_value());
  EXPECT_FALSE((IndexMap{{i, j}, {i + j}}).invert(std::vector<int64_t>{3, 5}, value).has_value());
}

}  // namespace
}  // namespace tunesmith
