#include <set>

#include "../verification/reference_data.h"
#include "run_operator.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::operators_onnx {
namespace {

TEST(OnnxQuantization, RoundsHalvesToEvenNumbers) {
  const std::vector<double> xs{0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49, -0.51, 8388609, -8388611};
  std::vector<double> rounded;
  for (const double x : xs) rounded.push_back(std::nearbyint(x));
  expect_tensor(run({"Round", 11, {given({10}, xs)}}), {10}, rounded);
  // Zero points are odd and even: halves round to even before zero points are added.
  for (const double zero : {0.0, 1.0, -3.0}) {
    std::vector<double> quantized;
    for (const double x : xs) quantized.push_back(std::clamp(std::nearbyint(x) + zero, -128.0, 127.0));
    expect_tensor(run({"QuantizeLinear", 13, {given({10}, xs), given({}, {1}), given({}, {zero}, kI8)}}),
                  {10}, quantized);
  }
}

TEST(OnnxQuantization, RoundsInItsOwnType) {
  network::Network network = network_of({"Round", 11, {given({4}, {0, 0, 0, 0})}});
  network::run_passes(network, {find_operator, {}});
  const Workload workload = network::workload_of(network, std::array<size_t, 1>{0}).workload;
  const Tensor xs = tensor_of(kF32, {4}, {0x1.fffffep-2, -0x1.fffffep-2, 0x1.800002p0, 8388609});
  expect_tensor(test::run(workload.program, {xs}).at(0), {4}, {0, 0, 2, 8388609});
}

/// A chain of them, inlined, grows by as many times as an operand stands in the text.
TEST(OnnxQuantization, ReadsWhatItRoundsOnce) {
  const Given x = drawn({2, 4, 8, 8}, 1), scale = known({}, {0.02}, kF32), zero = known({}, {3}, kU8);
  const Given bytes = drawn({2, 4, 8, 8}, 2, kU8);
  for (const Use& use :
       {Use{"Round", 11, {x}}, Use{"QuantizeLinear", 13, {x, scale, zero}},
        Use{"com.microsoft.QLinearAdd", 1, {bytes, scale, zero, bytes, scale, zero, scale, zero}}}) {
    network::Network network = network_of(use);
    network::run_passes(network, {find_operator, {}});
    const Workload workload = network::workload_of(network, std::array<size_t, 1>{0}).workload;
    int reads = 0;
    walk_exprs(workload.program.root(), [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      reads += access != nullptr && access->buffer == workload.program.inputs[0] ? 1 : 0;
    });
    EXPECT_EQ(reads, 1) << use.op;
  }
}

/// The scale and the zero point are inputs of the task, so that equal layers share it.
TEST(OnnxQuantization, CanBeVerified) {
  for (const bool shifts : {false, true}) {
    Use use{"QuantizeLinear", 13, {drawn({16, 16}, 1), known({}, {0.02}, kF32)}};
    if (shifts) use.inputs.emplace_back(known({}, {3}, kU8));
    network::Network network = network_of(use);
    network::run_passes(network, {find_operator, {}});
    const Workload workload = network::workload_of(network, std::array<size_t, 1>{0}).workload;
    for (const DataKind kind : kDataKinds) {
      const DrawnData data = test::data_of(workload.program, kind);
      const std::vector<Tensor> found = test::run(workload.program, data.inputs);
      EXPECT_LE(test::worst(found, data), 1.0);
      const std::vector<double> values = values_of(found[0]);
      EXPECT_GE(std::set<double>(values.begin(), values.end()).size(), 2) << data.fill.text();
      std::vector<Tensor> other = found;
      other[0].set(0, found[0].get(0) == 0 ? 1 : 0);
      EXPECT_GT(test::worst(other, data), 1.0) << data.fill.text();
    }
  }
}

/// Before version 13, a row of Softmax has all axes from 'axis' on.
TEST(OnnxQuantization, SoftmaxOfBytesHasTheRowsOfItsVersion) {
  const auto softmax = [](int64_t version) {
    return run({"com.microsoft.QLinearSoftmax",
                1,
                {given({1, 2, 3}, {7, 7, 7, 7, 7, 7}, kU8), known({}, {0.5}, kF32), known({}, {3}, kU8),
                 known({}, {1.0 / 60}, kF32), known({}, {0}, kU8)},
                {{"axis", int64_t{1}}, {"opset", version}}});
  };
  expect_tensor(softmax(12), {1, 2, 3}, {10, 10, 10, 10, 10, 10});
  expect_tensor(softmax(13), {1, 2, 3}, {30, 30, 30, 30, 30, 30});
}

TEST(OnnxQuantization, ProductsOfIntegersTakeBothZeroPoints) {
  const Given a = given({2, 3}, {1, 200, 3, 4, 50, 255}, kU8), b = given({3, 1}, {-5, 100, -128}, kI8);
  const auto expected = [](double za, double zb) {
    return std::vector<double>{(1 - za) * (-5 - zb) + (200 - za) * (100 - zb) + (3 - za) * (-128 - zb),
                               (4 - za) * (-5 - zb) + (50 - za) * (100 - zb) + (255 - za) * (-128 - zb)};
  };
  const auto product = [&](std::optional<Given> za, std::optional<Given> zb) {
    return run({"MatMulInteger", 10, {a, b, std::move(za), std::move(zb)}});
  };
  expect_tensor(product({}, {}), {2, 1}, expected(0, 0));
  expect_tensor(product(given({}, {128}, kU8), {}), {2, 1}, expected(128, 0));
  expect_tensor(product({}, given({1}, {-7}, kI8)), {2, 1}, expected(0, -7));
  expect_tensor(product(given({}, {128}, kU8), given({}, {-7}, kI8)), {2, 1}, expected(128, -7));
}

}  // namespace
}  // namespace tunesmith::operators_onnx
