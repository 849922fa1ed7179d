#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

const std::vector<double> kSix{0, 1, 2, 3, 4, 5};

TEST(OnnxViews, ReshapeKeepsTheOrder) {
  const Given x = counted({2, 3, 4});
  for (const Ints& shape : {Ints{6, 4}, {2, 12}, {4, 6}, {24}, {2, 2, 3, 2}, {3, 1, 8}, {2, 3, 4, 1}}) {
    const auto rank = static_cast<int64_t>(shape.size());
    expect_tensor(run({"Reshape", 14, {x, known({rank}, std::vector<double>(shape.begin(), shape.end()))}}),
                  shape, values_of(x.value));
  }
  EXPECT_EQ(run({"Reshape", 14, {x, known({3}, {0, -1, 2})}}).shape, (Ints{2, 6, 2}));
  EXPECT_EQ(run({"Reshape", 14, {given({1, 1}, {5}), known({0}, {})}}).shape, Ints{});
  EXPECT_EQ(run({"Reshape", 14, {given({0, 3}, {}), known({2}, {3, 0})}, {{"allowzero", int64_t{1}}}}).shape,
            (Ints{3, 0}));
  EXPECT_THAT(refusal_of({"Reshape", 14, {x, known({1}, {7})}}),
              testing::HasSubstr("another number of elements"));
  EXPECT_THAT(refusal_of({"Reshape", 14, {x, known({2}, {-1, -1})}}), testing::HasSubstr("more than one"));
  EXPECT_THAT(refusal_of({"Reshape", 14, {x, given({1}, {24}, kI64)}}),
              testing::HasSubstr("'shape') must be known"));
}

TEST(OnnxViews, FlattenSqueezeAndUnsqueezeChangeTheShape) {
  const Given x = counted({2, 1, 3});
  EXPECT_EQ(run({"Flatten", 13, {x}}).shape, (Ints{2, 3}));
  EXPECT_EQ(run({"Flatten", 13, {x}, {{"axis", int64_t{0}}}}).shape, (Ints{1, 6}));
  EXPECT_EQ(run({"Flatten", 13, {x}, {{"axis", int64_t{-1}}}}).shape, (Ints{2, 3}));
  EXPECT_EQ(run({"Squeeze", 13, {x}}).shape, (Ints{2, 3}));
  EXPECT_EQ(run({"Squeeze", 11, {x}, {{"axes", Ints{1}}}}).shape, (Ints{2, 3}));
  EXPECT_EQ(run({"Squeeze", 13, {x, known({1}, {-2})}}).shape, (Ints{2, 3}));
  EXPECT_EQ(run({"Unsqueeze", 13, {x, known({2}, {0, -1})}}).shape, (Ints{1, 2, 1, 3, 1}));
  EXPECT_EQ(run({"Unsqueeze", 11, {x}, {{"axes", Ints{3}}}}).shape, (Ints{2, 1, 3, 1}));
  EXPECT_THAT(refusal_of({"Squeeze", 13, {x, known({1}, {0})}}), testing::HasSubstr("extent other than 1"));
}

TEST(OnnxViews, TransposeExpandAndTileMoveElements) {
  const Given x = given({2, 3}, kSix);
  expect_tensor(run({"Transpose", 13, {x}}), {3, 2}, {0, 3, 1, 4, 2, 5});
  const Given y = drawn({2, 3, 4}, 1);
  const Tensor found = run({"Transpose", 13, {y}, {{"perm", Ints{1, 2, 0}}}});
  EXPECT_EQ(found.shape, (Ints{3, 4, 2}));
  EXPECT_EQ(found.get(2 * 8 + 1 * 2 + 1), y.value.get(1 * 12 + 2 * 4 + 1));
  expect_tensor(run({"Expand", 13, {given({2, 1}, {7, 8}), known({3}, {2, 1, 2})}}), {2, 2, 2},
                {7, 7, 8, 8, 7, 7, 8, 8});
  expect_tensor(run({"Tile", 13, {given({1, 2}, {7, 8}), known({2}, {2, 2})}}), {2, 4},
                {7, 8, 7, 8, 7, 8, 7, 8});
}

TEST(OnnxViews, BlocksOfSpaceBecomeChannelsAndBack) {
  const Given x = counted({1, 4, 1, 1});
  expect_tensor(run({"DepthToSpace", 13, {x}, {{"blocksize", int64_t{2}}}}), {1, 1, 2, 2}, {0, 1, 2, 3});
  const Given y = counted({1, 8, 1, 1});
  expect_tensor(run({"DepthToSpace", 13, {y}, {{"blocksize", int64_t{2}}}}), {1, 2, 2, 2},
                {0, 2, 4, 6, 1, 3, 5, 7});
  expect_tensor(run({"DepthToSpace", 13, {y}, {{"blocksize", int64_t{2}}, {"mode", "CRD"}}}), {1, 2, 2, 2},
                {0, 1, 2, 3, 4, 5, 6, 7});
  expect_tensor(run({"SpaceToDepth", 13, {counted({1, 2, 2, 2})}, {{"blocksize", int64_t{2}}}}), {1, 8, 1, 1},
                {0, 4, 1, 5, 2, 6, 3, 7});
}

Given ints(const std::vector<double>& values) { return known({static_cast<int64_t>(values.size())}, values); }

TEST(OnnxViews, SliceCutsAsPythonDoes) {
  const Given x = given({6}, kSix);
  const auto slice = [&](double start, double end, double step) {
    return values_of(run({"Slice", 13, {x, ints({start}), ints({end}), ints({0}), ints({step})}}));
  };
  EXPECT_EQ(slice(1, 4, 1), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(slice(-3, 100, 1), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(slice(0, 6, 4), (std::vector<double>{0, 4}));
  EXPECT_EQ(slice(5, 0, -2), (std::vector<double>{5, 3, 1}));
  EXPECT_EQ(slice(-1, -100, -1), (std::vector<double>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(slice(-100, 2, 1), (std::vector<double>{0, 1}));
  EXPECT_EQ(slice(4, 4, 1), std::vector<double>());
  expect_tensor(
      run({"Slice", 9, {counted({2, 3})}, {{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}}}),
      {2, 2}, {1, 2, 4, 5});
  EXPECT_THAT(refusal_of({"Slice", 13, {x, ints({0}), ints({1}), ints({0}), ints({0})}}),
              testing::HasSubstr("a step is 0"));
}

TEST(OnnxViews, SplitAndConcatAreEachOthersInverse) {
  const Given x = given({2, 3}, kSix);
  const auto parts = run_all({"Split", 13, {x, ints({1, 2})}, {{"axis", int64_t{1}}}, 2});
  expect_tensor(parts[0], {2, 1}, {0, 3});
  expect_tensor(parts[1], {2, 2}, {1, 2, 4, 5});
  const auto uneven = run_all({"Split", 18, {x}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2});
  EXPECT_EQ(uneven[0].shape, (Ints{2, 2}));
  EXPECT_EQ(uneven[1].shape, (Ints{2, 1}));
  EXPECT_EQ(run_all({"Split", 11, {x}, {}, 2})[1].shape, (Ints{1, 3}));
  expect_tensor(
      run({"Concat", 13, {given({2, 1}, {0, 3}), given({2, 2}, {1, 2, 4, 5})}, {{"axis", int64_t{1}}}}),
      {2, 3}, kSix);
  expect_tensor(run({"Concat",
                     13,
                     {given({1}, {9}), given({0}, {}), given({2}, {8, 7}), given({1}, {6})},
                     {{"axis", int64_t{0}}}}),
                {4}, {9, 8, 7, 6});
  EXPECT_THAT(refusal_of({"Concat", 13, {x, given({2, 2}, {1, 2, 3, 4})}, {{"axis", int64_t{0}}}}),
              testing::HasSubstr("input 1 does not fit"));
}

TEST(OnnxViews, PadHasFourModes) {
  const Given x = given({3}, {1, 2, 3});
  const auto padded = [&](const char* mode) { return run({"Pad", 19, {x, ints({2, 1})}, {{"mode", mode}}}); };
  expect_tensor(padded("constant"), {6}, {0, 0, 1, 2, 3, 0});
  expect_tensor(padded("reflect"), {6}, {3, 2, 1, 2, 3, 2});
  expect_tensor(padded("edge"), {6}, {1, 1, 1, 2, 3, 3});
  expect_tensor(padded("wrap"), {6}, {2, 3, 1, 2, 3, 1});
  expect_tensor(run({"Pad", 13, {x, ints({1, 0}), known({}, {9}, kF32)}}), {4}, {9, 1, 2, 3});
  expect_tensor(run({"Pad", 13, {x, ints({-1, 1})}}), {3}, {2, 3, 0});
  expect_tensor(run({"Pad", 9, {x}, {{"pads", Ints{0, 1}}, {"value", 5.0}}}), {4}, {1, 2, 3, 5});
  expect_tensor(run({"Pad", 18, {given({1, 2}, {1, 2}), ints({0, 1}), std::nullopt, ints({-1})}}), {1, 3},
                {1, 2, 0});
  EXPECT_THAT(refusal_of({"Pad", 13, {x, ints({3, 0})}, {{"mode", "reflect"}}}),
              testing::HasSubstr("wider than the axis"));
}

TEST(OnnxViews, GatherTakesIndicesThatAreKnown) {
  const Given x = counted({4, 2});
  expect_tensor(run({"Gather", 13, {x, ints({0, 1, 3})}}), {3, 2}, {0, 1, 2, 3, 6, 7});
  expect_tensor(run({"Gather", 13, {x, known({}, {-1})}}), {2}, {6, 7});
  expect_tensor(run({"Gather", 13, {x, ints({1, 0})}, {{"axis", int64_t{1}}}}), {4, 2},
                {1, 0, 3, 2, 5, 4, 7, 6});
  expect_tensor(run({"Gather", 13, {given({5}, {0, 10, 20, 30, 40}), known({2, 2}, {0, 2, 3, 1})}}), {2, 2},
                {0, 20, 30, 10});
  EXPECT_THAT(refusal_of({"Gather", 13, {x, ints({4})}}), testing::HasSubstr("out of range"));
}

TEST(OnnxViews, GatherTakesIndicesThatAreData) {
  const Given x = counted({4, 2});
  for (const DType type : {kI64, kI32}) {
    expect_tensor(run({"Gather", 13, {x, given({3}, {3, -4, 1}, type)}}), {3, 2}, {6, 7, 0, 1, 2, 3});
    expect_tensor(run({"Gather", 13, {x, given({}, {-1}, type)}}), {2}, {6, 7});
    expect_tensor(run({"Gather", 13, {x, given({1, 2}, {1, -2}, type)}, {{"axis", int64_t{-1}}}}), {4, 1, 2},
                  {1, 0, 3, 2, 5, 4, 7, 6});
  }
  std::vector<double> scattered;
  for (int i = 0; i < 200; ++i) scattered.push_back(i * i % 37);
  Given table = counted({37});
  expect_tensor(run({"Gather", 13, {table, known({200}, scattered)}}), {200}, scattered);
  EXPECT_THAT(refusal_of({"Gather", 13, {x, given({1}, {0})}}), testing::HasSubstr("indices of type f32"));
}

TEST(OnnxViews, GatherElementsTakesAnIndexForEachElement) {
  const Given x = given({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_tensor(run({"GatherElements", 13, {x, given({2, 3}, {1, 2, 0, 2, 0, -3}, kI64)}}), {2, 3},
                {4, 8, 3, 7, 2, 3});
  expect_tensor(run({"GatherElements", 13, {x, given({3, 1}, {0, -1, 1}, kI32)}, {{"axis", int64_t{1}}}}),
                {3, 1}, {1, 6, 8});
  EXPECT_THAT(refusal_of({"GatherElements", 13, {x, given({3}, {0, 0, 0}, kI64)}}),
              testing::HasSubstr("not as many axes"));
  EXPECT_THAT(refusal_of({"GatherElements", 13, {x, given({1, 4}, {0, 0, 0, 0}, kI64)}}),
              testing::HasSubstr("larger than the data"));
}

TEST(OnnxViews, GatherNdTakesTuplesOfIndices) {
  const Given x = counted({2, 2, 2});
  expect_tensor(run({"GatherND", 13, {counted({2, 2}), given({2, 2}, {0, 0, 1, -1}, kI64)}}), {2}, {0, 3});
  expect_tensor(run({"GatherND", 13, {counted({2, 2}), given({2, 1}, {1, 0}, kI64)}}), {2, 2}, {2, 3, 0, 1});
  expect_tensor(run({"GatherND", 13, {x, given({2, 1, 2}, {0, 1, 1, 0}, kI64)}}), {2, 1, 2}, {2, 3, 4, 5});
  expect_tensor(run({"GatherND", 13, {x, given({2, 1}, {1, 0}, kI64)}, {{"batch_dims", int64_t{1}}}}), {2, 2},
                {2, 3, 4, 5});
  EXPECT_THAT(refusal_of({"GatherND", 13, {x, given({1, 4}, {0, 0, 0, 0}, kI64)}}),
              testing::HasSubstr("not a number of axes"));
}

TEST(OnnxViews, ReverseSequenceTurnsWhatTheLengthsSay) {
  const Given x = counted({4, 4});
  const std::vector<double> lengths{4, 3, 2, 1};
  expect_tensor(run({"ReverseSequence",
                     10,
                     {x, given({4}, lengths, kI64)},
                     {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}}}),
                {4, 4}, {12, 9, 6, 3, 8, 5, 2, 7, 4, 1, 10, 11, 0, 13, 14, 15});
  expect_tensor(run({"ReverseSequence",
                     10,
                     {x, given({4}, {1, 2, 3, 4}, kI64)},
                     {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}}),
                {4, 4}, {0, 1, 2, 3, 5, 4, 6, 7, 10, 9, 8, 11, 15, 14, 13, 12});
  EXPECT_THAT(refusal_of({"ReverseSequence", 10, {x, given({3}, {1, 2, 3}, kI64)}}),
              testing::HasSubstr("one i64 for each sequence"));
}

TEST(OnnxViews, ConstantsFollowFromShapes) {
  expect_tensor(run({"Shape", 13, {counted({2, 3})}}), {2}, {2, 3});
  expect_tensor(run({"Shape", 15, {counted({2, 3, 4})}, {{"start", int64_t{-2}}}}), {2}, {3, 4});
  expect_tensor(run({"Size", 13, {counted({2, 3})}}), {}, {6});
  expect_tensor(run({"ConstantOfShape", 9, {ints({2})}}), {2}, {0, 0});
  expect_tensor(run({"Range", 11, {known({}, {7}, kI32), known({}, {2}, kI32), known({}, {-2}, kI32)}}), {3},
                {7, 5, 3});
  expect_tensor(run({"Range", 11, {known({}, {1}, kF32), known({}, {2}, kF32), known({}, {0.5}, kF32)}}), {2},
                {1, 1.5});
  expect_tensor(run({"EyeLike", 9, {counted({2, 3})}, {{"k", int64_t{1}}}}), {2, 3}, {0, 1, 0, 0, 0, 1});
}

TEST(OnnxViews, PositionsAreChosen) {
  expect_tensor(run({"OneHot", 11, {given({3}, {1, -1, 9}, kI64), known({}, {3}), given({2}, {2, 5})}}),
                {3, 3}, {2, 5, 2, 2, 2, 5, 2, 2, 2});
  // Before version 11 a negative index selected nothing.
  expect_tensor(run({"OneHot", 10, {given({2}, {1, -1}, kI64), known({}, {3}), given({2}, {2, 5})}}), {2, 3},
                {2, 5, 2, 2, 2, 2});
  expect_tensor(run({"OneHot",
                     11,
                     {given({2}, {1, 0}, kI64), known({}, {2}), given({2}, {0, 1})},
                     {{"axis", int64_t{0}}}}),
                {2, 2}, {0, 1, 1, 0});
  expect_tensor(run({"Trilu", 14, {counted({3, 3}, 1)}}), {3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9});
  expect_tensor(run({"Trilu", 14, {counted({2, 2}, 1), known({}, {-1})}, {{"upper", int64_t{0}}}}), {2, 2},
                {0, 0, 3, 0});
  const Given x = given({4}, {1, 2, 3, 4});
  expect_tensor(run({"CumSum", 14, {x, known({}, {0})}}), {4}, {1, 3, 6, 10});
  expect_tensor(run({"CumSum", 14, {x, known({}, {0})}, {{"exclusive", int64_t{1}}}}), {4}, {0, 1, 3, 6});
  expect_tensor(run({"CumSum", 14, {x, known({}, {-1})}, {{"reverse", int64_t{1}}}}), {4}, {10, 9, 7, 4});
  expect_tensor(
      run({"CumSum", 14, {x, known({}, {0})}, {{"reverse", int64_t{1}}, {"exclusive", int64_t{1}}}}), {4},
      {9, 7, 4, 0});
  for (const int64_t extent : {1, 2, 3, 5, 16, 17}) {
    std::vector<double> sums;
    for (int64_t i = 0; i < 2 * extent; ++i) {
      const auto n = static_cast<double>(i % extent + 1);
      sums.push_back(n * (n + 1) / 2);
    }
    Given rows = counted({2, extent}, 1, 1, kI64);
    for (int64_t i = extent; i < 2 * extent; ++i) rows.value.set(i, static_cast<double>(i - extent + 1));
    expect_tensor(run({"CumSum", 14, {rows, known({}, {1})}}), {2, extent}, sums);
  }
  expect_tensor(run({"CumSum", 14, {given({1}, {3}), known({}, {0})}, {{"exclusive", int64_t{1}}}}), {1},
                {0});
}

}  // namespace
}  // namespace tunesmith::operators_onnx
