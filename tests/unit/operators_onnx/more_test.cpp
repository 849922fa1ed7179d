#include <fstream>

#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

Given no_roi() { return known({0}, {}, kF32); }

Tensor resized(const Given& x, const std::vector<double>& scales, Attributes attributes) {
  return run({"Resize",
              13,
              {x, no_roi(), known({static_cast<int64_t>(scales.size())}, scales, kF32)},
              std::move(attributes)});
}

TEST(OnnxResize, NearestTakesTheModesOfRounding) {
  const Given x = given({1, 1, 4}, {1, 2, 3, 4});
  expect_tensor(
      resized(x, {1, 1, 2}, {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
      {1, 1, 8}, {1, 1, 2, 2, 3, 3, 4, 4});
  expect_tensor(resized(x, {1, 1, 2}, {}), {1, 1, 8}, {1, 1, 2, 2, 3, 3, 4, 4});
  expect_tensor(
      resized(x, {1, 1, 0.5}, {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
      {1, 1, 2}, {1, 3});
  // 0 to 3 in seven steps of a half: halves go down, or up.
  const std::vector<double> down{1, 1, 2, 2, 3, 3, 4}, up{1, 2, 2, 3, 3, 4, 4};
  const auto to_seven = [&](const char* mode) {
    return run({"Resize",
                13,
                {x, no_roi(), std::nullopt, known({3}, {1, 1, 7})},
                {{"coordinate_transformation_mode", "align_corners"}, {"nearest_mode", mode}}});
  };
  expect_tensor(to_seven("round_prefer_floor"), {1, 1, 7}, down);
  expect_tensor(to_seven("round_prefer_ceil"), {1, 1, 7}, up);
  expect_tensor(run({"Upsample", 9, {x, known({3}, {1, 1, 2}, kF32)}}), {1, 1, 8}, {1, 1, 2, 2, 3, 3, 4, 4});
}

TEST(OnnxResize, PositionsAreExact) {
  const auto to_size = [](int64_t from, int64_t to, Attributes attributes) {
    return values_of(
        run({"Resize",
             13,
             {counted({from}), std::nullopt, std::nullopt, known({1}, {static_cast<double>(to)})},
             std::move(attributes)}));
  };
  for (const auto& [from, to] :
       {std::pair<int64_t, int64_t>{12, 19}, {9, 14}, {12, 20}, {14, 18}, {6, 27}, {31, 7}, {64, 127}}) {
    std::vector<double> halves_down, below, lines;
    for (int64_t i = 0, nearest = 0; i < to; ++i) {
      while (2 * to * (nearest + 1) < (2 * i + 1) * from && nearest + 1 < from) ++nearest;
      halves_down.push_back(static_cast<double>(nearest));
      below.push_back(static_cast<double>(i * from / to));
      const double at =
          (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
      lines.push_back(std::clamp(at, 0.0, static_cast<double>(from - 1)));
    }
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    EXPECT_EQ(to_size(from, to, {}), halves_down);
    EXPECT_EQ(
        to_size(from, to, {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
        below);
    EXPECT_THAT(to_size(from, to, {{"mode", "linear"}}),
                testing::Pointwise(testing::DoubleNear(1e-12), lines));
  }
}

TEST(OnnxResize, AScaleIsTheFractionThatIsMeant) {
  const Attributes floor{{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}};
  for (const auto& [from, scale, to, up, down] :
       {std::tuple<int64_t, double, int64_t, int64_t, int64_t>{24, 1.6666666, 40, 5, 3},
        {10, 0.7, 7, 7, 10},
        {10, 0.6, 6, 3, 5},
        {48, 3, 144, 3, 1},
        {9, 0.34, 3, 17, 50}}) {
    const Tensor found = resized(counted({from}), {scale}, floor);
    ASSERT_EQ(found.shape, Ints{to}) << scale;
    for (int64_t i = 0; i < to; ++i)
      EXPECT_EQ(found.get(i), static_cast<double>(i * down / up)) << scale << " at " << i;
  }
  EXPECT_THAT(refusal_of({"Resize", 13, {counted({4}), no_roi(), known({1}, {1e30}, kF32)}}),
              testing::HasSubstr("elements"));
  EXPECT_THAT(refusal_of({"Resize", 13, {counted({4}), no_roi(), known({1}, {1e-30}, kF32)}}),
              testing::HasSubstr("without elements"));
}

TEST(OnnxResize, LinearInterpolatesAndClampsAtTheEdges) {
  const Given x = given({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor found = resized(x, {1, 1, 2, 2}, {{"mode", "linear"}});
  expect_tensor(found, {1, 1, 4, 4},
                {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  expect_tensor(resized(given({1, 1, 3}, {0, 3, 6}), {1, 1, 2},
                        {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
                {1, 1, 6}, {0, 1.2, 2.4, 3.6, 4.8, 6});
}

TEST(OnnxResize, PositionsBeyondWhatANarrowTypeCountsAreExact) {
  for (const DType dtype : {kBF16, kF16}) {
    network::Network network =
        network_of({"Resize",
                    13,
                    {counted({1, 1, 2048}, 0, 0, dtype), no_roi(), known({3}, {1, 1, 2}, kF32)},
                    {{"mode", "linear"}}});
    network::run_passes(network, {find_operator, {}});
    const Workload workload = network::workload_of(network, std::array<size_t, 1>{0}).workload;
    EXPECT_THAT(workload.definition, testing::HasSubstr("f32((i2")) << "as the machine computes it";
  }
}

TEST(OnnxResize, CornersOfNoWholeExtentAreRefused) {
  EXPECT_THAT(refusal_of({"Resize",
                          13,
                          {counted({1, 1, 4}), no_roi(), known({3}, {1, 1, 0.6}, kF32)},
                          {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}}),
              testing::HasSubstr("no whole extent"));
}

TEST(OnnxResize, CubicReproducesLines) {
  // Far from the edges the kernel with a = -0.5 reproduces linear functions.
  const Tensor found = resized(counted({1, 1, 8}), {1, 1, 2}, {{"mode", "cubic"}, {"cubic_coeff_a", -0.5}});
  for (int64_t i = 4; i < 12; ++i) EXPECT_NEAR(found.get(i), (static_cast<double>(i) + 0.5) / 2 - 0.5, 1e-12);
  EXPECT_THAT(
      [&] {
        return refusal_of({"Resize",
                           13,
                           {counted({1, 1, 8}), no_roi(), known({3}, {1, 1, 2}, kF32)},
                           {{"mode", "cubic"}, {"exclude_outside", int64_t{1}}}});
      }(),
      testing::HasSubstr("exclude_outside"));
}

TEST(OnnxEinsum, NamesAxesByLetters) {
  const Given a = drawn({2, 3}, 1), b = drawn({3, 4}, 2);
  const Tensor product = run({"Einsum", 12, {a, b}, {{"equation", "ij, jk -> ik"}}});
  EXPECT_EQ(product.shape, (Ints{2, 4}));
  double sum = 0;
  for (int64_t k = 0; k < 3; ++k) sum += a.value.get(3 + k) * b.value.get(k * 4 + 2);
  EXPECT_NEAR(product.get(6), sum, 1e-12);
  const Given square = given({2, 2}, {1, 2, 3, 4});
  expect_tensor(run({"Einsum", 12, {square}, {{"equation", "ij->ji"}}}), {2, 2}, {1, 3, 2, 4});
  expect_tensor(run({"Einsum", 12, {square}, {{"equation", "ii"}}}), {}, {5});
  expect_tensor(run({"Einsum", 12, {square}, {{"equation", "...i->..."}}}), {2}, {3, 7});
  expect_tensor(run({"Einsum", 12, {square}, {{"equation", "ba"}}}), {2, 2}, {1, 3, 2, 4});
  EXPECT_THAT(refusal_of({"Einsum", 12, {a, b}, {{"equation", "ij,ik->jk"}}}),
              testing::HasSubstr("axes 'i' have different extents"));
}

TEST(OnnxTopK, RanksByValueThenByPosition) {
  const auto largest = run_all({"TopK", 11, {given({1, 5}, {2, 7, 7, 1, 5}), known({1}, {3})}, {}, 2});
  expect_tensor(largest[0], {1, 3}, {7, 7, 5});
  expect_tensor(largest[1], {1, 3}, {1, 2, 4});
  const auto smallest = run_all({"TopK",
                                 11,
                                 {given({3, 1}, {2, 1, 7}), known({1}, {2})},
                                 {{"axis", int64_t{0}}, {"largest", int64_t{0}}},
                                 2});
  expect_tensor(smallest[0], {2, 1}, {1, 2});
  expect_tensor(smallest[1], {2, 1}, {1, 0});
}

TEST(OnnxQuantization, RoundsSaturatesAndShifts) {
  const Given x = given({1, 6}, {0, 1, 3, -3, 1000, -1000});
  expect_tensor(run({"QuantizeLinear", 13, {x, given({}, {2}), given({}, {128}, kU8)}}), {1, 6},
                {128, 128, 130, 126, 255, 0});
  expect_tensor(
      run({"DequantizeLinear", 13, {given({1, 2}, {3, 200}, kU8), given({}, {0.5}), given({}, {100}, kU8)}}),
      {1, 2}, {-48.5, 50});
  expect_tensor(run({"DequantizeLinear",
                     13,
                     {given({2, 1}, {-3, 4}, kI8), given({2}, {0.5, 2})},
                     {{"axis", int64_t{0}}}}),
                {2, 1}, {-1.5, 8});
  expect_tensor(run({"MatMulInteger",
                     10,
                     {given({1, 2}, {3, 4}, kU8), given({2, 1}, {5, 6}, kU8), given({}, {1}, kU8)}}),
                {1, 1}, {28});
}

TEST(OnnxNormalizations, LocalResponsesAreDividedByTheirNeighbours) {
  expect_tensor(run({"LRN",
                     13,
                     {given({1, 3, 1}, {1, 2, 3})},
                     {{"size", int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}}}),
                {1, 3, 1}, {1.0 / 6, 2.0 / 15, 3.0 / 14});
}

TEST(OnnxLosses, ChooseTheLabelsClass) {
  const Given x = given({2, 3}, {-1, -2, -3, -4, -5, -6}), labels = given({2}, {2, 0}, kI64),
              weights = given({3}, {0.5, 1, 2});
  const auto loss = [&](const char* mode) {
    return run({"NegativeLogLikelihoodLoss", 13, {x, labels, weights}, {{"reduction", mode}}});
  };
  expect_tensor(loss("none"), {2}, {6, 2});
  expect_tensor(loss("sum"), {}, {8});
  expect_tensor(loss("mean"), {}, {8 / 2.5});
  const Attributes ignoring{{"reduction", "mean"}, {"ignore_index", int64_t{2}}};
  expect_tensor(run({"NegativeLogLikelihoodLoss", 13, {x, labels}, ignoring}), {}, {4});
  const auto outputs =
      run_all({"SoftmaxCrossEntropyLoss", 13, {given({1, 2, 1}, {1, 3}), given({1, 1}, {0}, kI64)}, {}, 2});
  const double logarithm = 1 - std::log(std::exp(1) + std::exp(3));
  expect_tensor(outputs[0], {}, {-logarithm});
  expect_tensor(outputs[1], {1, 2, 1}, {logarithm, logarithm + 2});
}

TEST(OnnxOperators, OfVersion6BroadcastByAttribute) {
  const Given a = counted({2, 3, 2}), b = given({3}, {10, 20, 30});
  const Tensor found = run({"Add", 6, {a, b}, {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}});
  EXPECT_EQ(found.get(3), 23);
  EXPECT_EQ(found.get(10), 40);
  expect_tensor(
      run({"Mul", 6, {given({2, 2}, {1, 2, 3, 4}), given({2}, {1, 10})}, {{"broadcast", int64_t{1}}}}),
      {2, 2}, {1, 20, 3, 40});
  EXPECT_THAT(refusal_of({"Add", 6, {a, b}}), testing::HasSubstr("'broadcast' is 0"));
  expect_tensor(run({"PRelu", 6, {given({1, 2, 1}, {-1, -2}), given({2}, {0.5, 0.25})}}), {1, 2, 1},
                {-0.5, -0.5});
  EXPECT_THAT(refusal_of({"Dropout", 6, {a}}), testing::HasSubstr("training"));
}

TEST(OnnxOperators, AreFoundByNameAndVersion) {
  EXPECT_NE(find_operator("Conv", 9), nullptr);
  EXPECT_EQ(find_operator("Conv", kNewestVersion + 1), nullptr);
  EXPECT_EQ(find_operator("Gelu", 19), nullptr);
  EXPECT_NE(find_operator("Gelu", 20), nullptr);
  EXPECT_NE(find_operator("Clip", 10), find_operator("Clip", 11));
  EXPECT_EQ(find_operator("Clip", 11), find_operator("Clip", 13));
  EXPECT_EQ(find_operator("conv", 17), nullptr);
  const std::vector<std::string> names = known_operators();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_GE(names.size(), 110U);
}

TEST(OnnxOperators, AreAllInTheDocs) {
  std::ifstream file(TUNESMITH_SOURCE_DIR "/docs/networks.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = text.find("\n\n", text.find("## ONNX's operators")) + 2;
  std::string list = text.substr(text.find("`Abs`", begin));
  list = list.substr(0, list.find("\n\n"));
  std::vector<std::string> documented;
  for (size_t at = 0; (at = list.find('`', at)) != std::string::npos;) {
    const size_t end = list.find('`', at + 1);
    documented.push_back(list.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  EXPECT_EQ(documented, known_operators());
}

}  // namespace
}  // namespace tunesmith::operators_onnx
