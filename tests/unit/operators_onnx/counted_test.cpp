// Operators whose results' extents depend on data.
#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

using testing::HasSubstr;

TEST(OnnxCounted, NonZeroGivesThePlacesOfWhatIsThere) {
  for (const DType dtype : {kF32, kF16, kI64, kU8, kBool}) {
    SCOPED_TRACE(dtype.str());
    expect_tensor(run({"NonZero", 13, {given({2, 3}, {0, 1, 1, 1, 0, 1}, dtype)}}), {2, 4},
                  {0, 0, 1, 1, 1, 2, 0, 2});
  }
  expect_tensor(run({"NonZero", 13, {given({5}, {0, 0, 0, 0, 0})}}), {1, 0}, {});
  expect_tensor(run({"NonZero", 13, {given({2, 2}, {1, kNan, -1, 3})}}), {2, 4}, {0, 0, 1, 1, 0, 1, 0, 1});
  expect_tensor(run({"NonZero", 13, {given({1}, {7})}}), {1, 1}, {0});
  expect_tensor(run({"NonZero", 13, {given({1, 1}, {0})}}), {2, 0}, {});
  expect_tensor(run({"NonZero", 13, {given({3, 1, 1}, {0, 2, 0})}}), {3, 1}, {1, 0, 0});
  expect_tensor(run({"NonZero", 13, {given({2, 0}, {})}}), {2, 0}, {});
  EXPECT_THAT(refusal_of({"NonZero", 13, {given({}, {1})}}), HasSubstr("the number of axes is 0"));
}

TEST(OnnxCounted, NonZeroOfEachNumberOfElements) {
  for (int64_t n = 1; n < 40; ++n) {
    const Given mask = drawn({n}, static_cast<uint64_t>(n), kBool);
    std::vector<double> places;
    for (int64_t i = 0; i < n; ++i)
      if (mask.value.get(i) != 0) places.push_back(static_cast<double>(i));
    expect_tensor(run({"NonZero", 13, {mask}}), {1, static_cast<int64_t>(places.size())}, places);
  }
}

TEST(OnnxCounted, CompressTakesWhatTheConditionNames) {
  const Given rows = given({3}, {1, 0, 1}, kBool);
  expect_tensor(run({"Compress", 11, {counted({3, 2}), rows}, {{"axis", int64_t{0}}}}), {2, 2}, {0, 1, 4, 5});
  expect_tensor(run({"Compress", 11, {counted({2, 3}), rows}, {{"axis", int64_t{-1}}}}), {2, 2},
                {0, 2, 3, 5});
  expect_tensor(run({"Compress", 11, {counted({3, 2}), rows}}), {2}, {0, 2});
  expect_tensor(run({"Compress", 11, {counted({3, 2}), given({2}, {0, 0}, kBool)}, {{"axis", int64_t{0}}}}),
                {0, 2}, {});
  EXPECT_THAT(refusal_of({"Compress", 11, {counted({2}), rows}}), HasSubstr("longer than the axis"));
}

TEST(OnnxCounted, SliceAndTopKTakeAnExtentThatIsData) {
  const auto part = [](double end, double start = 0) {
    return Use{"Slice", 13, {counted({5, 2}), known({1}, {start}), given({1}, {end}, kI64), known({1}, {0})}};
  };
  expect_tensor(run(part(2)), {2, 2}, {0, 1, 2, 3});
  expect_tensor(run(part(-2, 1)), {2, 2}, {2, 3, 4, 5});
  expect_tensor(run(part(99, 4)), {1, 2}, {8, 9});
  expect_tensor(run(part(-9)), {0, 2}, {});
  const auto top = [](double k) {
    return Use{"TopK", 11, {given({2, 3}, {3, 1, 2, 4, 6, 5}), given({1}, {k}, kI64)}, {}, 2};
  };
  const auto made = run_all(top(2));
  expect_tensor(made[0], {2, 2}, {3, 2, 6, 5});
  expect_tensor(made[1], {2, 2}, {0, 2, 1, 2});
  expect_tensor(run_all(top(3))[1], {2, 3}, {0, 2, 1, 1, 2, 0});
}

TEST(OnnxCounted, UniqueComparesElementsOrRows) {
  const Given x = given({6}, {2, 1, 1, 3, 4, 3});
  const auto sorted = run_all({"Unique", 11, {x}, {}, 4});
  expect_tensor(sorted[0], {4}, {1, 2, 3, 4});
  expect_tensor(sorted[1], {4}, {1, 0, 3, 4});
  expect_tensor(sorted[2], {6}, {1, 0, 0, 2, 3, 2});
  expect_tensor(sorted[3], {4}, {2, 1, 2, 1});
  const auto met = run_all({"Unique", 11, {x}, {{"sorted", int64_t{0}}}, 4});
  expect_tensor(met[0], {4}, {2, 1, 3, 4});
  expect_tensor(met[1], {4}, {0, 1, 3, 4});
  expect_tensor(met[2], {6}, {0, 1, 1, 2, 3, 2});
  expect_tensor(met[3], {4}, {1, 2, 2, 1});
  const Given rows = given({4, 2}, {1, 2, 0, 9, 1, 0, 1, 2}, kI64);
  const auto of_rows = run_all({"Unique", 11, {rows}, {{"axis", int64_t{0}}}, 4});
  expect_tensor(of_rows[0], {3, 2}, {0, 9, 1, 0, 1, 2});
  expect_tensor(of_rows[1], {3}, {1, 2, 0});
  expect_tensor(of_rows[2], {4}, {2, 0, 1, 2});
  expect_tensor(of_rows[3], {3}, {1, 1, 2});
  expect_tensor(run({"Unique", 11, {rows}, {{"axis", int64_t{1}}}}), {4, 2}, {1, 2, 0, 9, 1, 0, 1, 2});
  expect_tensor(
      run({"Unique", 11, {given({3, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 3, 1, 2, 3, 4})}, {{"axis", int64_t{0}}}}),
      {2, 2, 2}, {1, 2, 3, 3, 1, 2, 3, 4});
  expect_tensor(run({"Unique", 11, {given({2, 2}, {kNan, 1, 1, kNan})}}), {2}, {1, kNan});
  expect_tensor(run({"Unique", 11, {given({1}, {3})}}), {1}, {3});
  EXPECT_THAT(refusal_of({"Unique", 11, {counted({5000})}}), HasSubstr("at most 16777216 comparisons"));
}

TEST(OnnxCounted, NonMaxSuppressionKeepsTheBestOfThoseThatMeet) {
  const Given boxes = given({1, 6, 4}, {0, 0,  1, 1,  0, 0.1,  1, 1.1,  0, -0.1, 1, 0.9,
                                        0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100,  1, 101});
  const Given scores = given({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3});
  const auto with = [&](const Given& of, double most, double threshold, std::optional<double> least = 0) {
    Use use{"NonMaxSuppression", 11, {of, scores, known({1}, {most}), known({1}, {threshold}, kF32)}};
    if (least) use.inputs.push_back(given({1}, {*least}));
    return use;
  };
  expect_tensor(run(with(boxes, 3, 0.5)), {3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5});
  expect_tensor(run(with(boxes, 2, 0.5)), {2, 3}, {0, 0, 3, 0, 0, 0});
  expect_tensor(run(with(boxes, 30, 0.5, 0.4)), {2, 3}, {0, 0, 3, 0, 0, 0});
  expect_tensor(run(with(boxes, 30, 1, std::nullopt)), {6, 3},
                {0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 4, 0, 0, 5});
  expect_tensor(run(with(boxes, 0, 0.5)), {0, 3}, {});
  Use centres = with(given({1, 6, 4}, {0.5, 0.5,  1, 1, 0.5, 0.6,  1, 1, 0.5, 0.4,   1, 1,
                                       0.5, 10.5, 1, 1, 0.5, 10.6, 1, 1, 0.5, 100.5, 1, 1}),
                     3, 0.5);
  centres.attributes["center_point_box"] = int64_t{1};
  expect_tensor(run(centres), {3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5});
  // More than 8 steps are a loop; equal scores are taken in their order.
  const auto row = [](int64_t i, int64_t place) {
    return place % 2 == 0 ? static_cast<double>(i) : static_cast<double>(i) + 1;
  };
  Given many = counted({1, 12, 4});
  for (int64_t i = 0; i < 48; ++i) many.value.set(i, row(i / 4, i % 4 / 2));
  const Use all{
      "NonMaxSuppression", 11, {many, given({1, 2, 12}, std::vector<double>(24, 0.5)), known({1}, {12})}};
  const Tensor found = run(all);
  ASSERT_EQ(found.shape, (Ints{24, 3}));
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(found.get(3 * i + 2), static_cast<double>(i % 12));
}

}  // namespace
}  // namespace tunesmith::operators_onnx
