// Compares whole networks, compiled without any schedule, with their evaluation.
#include <cmath>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "temporary_folder.h"
#include "tunesmith/network/built_library.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/loaded_plan.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/network/verify_in_place.h"
#include "tunesmith/verification/data_sets.h"
#include "unit/network/random_network.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using network::Network;

/// For these operators, f32 keeps at least four digits here.
void expect_close(const Tensor& result, const Tensor& expected, const std::string& text) {
  ASSERT_EQ(result.shape, expected.shape);
  for (int64_t i = 0; i < result.elements(); ++i)
    EXPECT_NEAR(result.get(i), expected.get(i), 1e-4 * (1 + std::abs(expected.get(i))))
        << "element " << i << " of\n"
        << text;
}

Tensor zeros_like(const network::Tensor& tensor) {
  network::Shape shape;
  for (const network::Extent& extent : *tensor.shape) shape.push_back(std::get<int64_t>(extent));
  return Tensor::zeros(*tensor.dtype, shape);
}

class CompiledNetworks : public ::testing::Test {
 protected:
  void expect_what_evaluation_gives(const Network& network, std::mt19937& random) {
    const std::vector<network::NodeWorkload> regions = region_workloads(network, form_regions(network));
    const std::vector<network::RegionKernel> kernels = kernels_.of(network, regions);
    const network::LibraryPlan plan = plan_library(network, kernels, "net");
    write_library(plan, *target_->packaging(), folder_.path().string());
    network::BuiltLibrary library(folder_.path(), facts_of(plan));
    std::vector<Tensor> inputs, outputs;
    std::vector<void*> data;
    for (const network::TensorIndex input : network.inputs) {
      inputs.push_back(zeros_like(network.tensors[static_cast<size_t>(input)]));
      inputs.back().fill_random(random());
      if (!inputs.back().dtype.is_float()) draw_indices(inputs.back(), inputs.back().shape.back(), random());
    }
    for (const network::TensorIndex output : network.outputs)
      outputs.push_back(zeros_like(network.tensors[static_cast<size_t>(output)]));
    for (std::vector<Tensor>* tensors : {&inputs, &outputs})
      for (Tensor& tensor : *tensors) data.push_back(tensor.bytes.data());
    library.run(data);
    const std::vector<Tensor> expected = evaluate(network, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) expect_close(outputs[i], expected[i], to_text(network));

    const network::VerifiedCall call =
        network::PlaceVerifier(network, regions, *target_).verify(library, inputs);
    EXPECT_EQ(call.steps.size(), regions.size());
    for (const network::VerifiedStep& step : call.steps)
      EXPECT_TRUE(step.faults.empty()) << step.name << " " << step.faults.front();
    EXPECT_TRUE(call.right());
    network::LoadedPlan loaded(plan, *target_);
    std::vector<Tensor> of_plan = outputs;
    for (size_t i = 0; i < of_plan.size(); ++i) data[inputs.size() + i] = of_plan[i].bytes.data();
    loaded.run(data);
    EXPECT_EQ(of_plan, outputs) << "the plan runs in this process as in its library";
  }

  std::unique_ptr<llvm_target::LlvmTarget> target_ = testing::make_target();
  network::PlainKernels kernels_{*target_};
  test::TemporaryFolder folder_;
};

TEST_F(CompiledNetworks, OfMatricesComputeWhatTheirEvaluationDoes) {
  std::mt19937 random(5);
  for (int draw = 0; draw < 12; ++draw)
    expect_what_evaluation_gives(network::random_network(random, 12, 8), random);
}

TEST_F(CompiledNetworks, OfImagesComputeWhatTheirEvaluationDoes) {
  std::mt19937 random(6);
  for (int draw = 0; draw < 8; ++draw)
    expect_what_evaluation_gives(network::random_image_network(random, 10), random);
}

TEST_F(CompiledNetworks, OfJoinedImagesComputeWhatTheirEvaluationDoes) {
  std::mt19937 random(8);
  size_t parts = 0;
  for (int draw = 0; draw < 12; ++draw) {
    const Network network = network::resolved(network::random_joined_graph(random, 8));
    for (const network::Tensor& tensor : network.tensors) parts += tensor.part ? 1 : 0;
    expect_what_evaluation_gives(network, random);
  }
  EXPECT_GT(parts, 60);
}

/// Eleven steps in both directions, whose results go through a second recurrence in the order of the batch.
Network network_of_loops() {
  network::Builder builder;
  const auto random = [&](const std::string& name, const network::Shape& shape) {
    Tensor values = Tensor::zeros(kF64, shape);
    values.fill_random(name.size());
    std::vector<double> numbers;
    for (int64_t i = 0; i < values.elements(); ++i) numbers.push_back(values.get(i));
    builder.numbers(name, shape, numbers);
  };
  random("W", {2, 16, 3});
  random("R.", {2, 16, 4});
  random("B..", {2, 32});
  random("W...", {1, 15, 8});
  random("R....", {1, 15, 5});
  builder.numbers("lengths", {2}, {11, 4}, kI32);
  builder.integers("shape", {11, 2, 8});
  builder.input("x", kF32, {int64_t{11}, int64_t{2}, int64_t{3}});
  builder.node("LSTM", {"x", "W", "R.", "B..", "lengths"}, {"y", "h", "c"}, {{"direction", "bidirectional"}});
  builder.node("Transpose", {"y"}, {"turned"}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  builder.node("Reshape", {"turned", "shape"}, {"rows"});
  builder.node("GRU", {"rows", "W...", "R...."}, {"z", "last"}, {{"direction", "reverse"}});
  builder.node("Relu", {"z"}, {"positive"});
  return network::resolved(builder.finish({"positive", "last", "h", "c"}));
}

TEST_F(CompiledNetworks, OfLoopsComputeWhatTheirEvaluationDoes) {
  const Network network = network_of_loops();
  ASSERT_EQ(network.loops.size(), 2U);
  EXPECT_LT(network.nodes.size(), 24U);
  std::mt19937 random(9);
  expect_what_evaluation_gives(network, random);
}

/// Verification notices a loop with fewer trips, and one in which a buffer does not advance.
TEST_F(CompiledNetworks, OfLoopsThatAreWrongAreNoticed) {
  const Network network = network_of_loops();
  const std::vector<network::NodeWorkload> regions = region_workloads(network, form_regions(network));
  const std::vector<network::RegionKernel> kernels = kernels_.of(network, regions);
  const network::LibraryPlan plan = plan_library(network, kernels, "net");
  const network::PlaceVerifier verifier(network, regions, *target_);
  const std::vector<Tensor> inputs = network::random_inputs(arguments_of(network, network.inputs), 4);
  const auto is_right = [&](const network::LibraryPlan& changed) {
    network::LoadedPlan loaded(changed, *target_);
    return verifier.verify(loaded, inputs).right();
  };
  EXPECT_TRUE(is_right(plan));
  size_t changes = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    network::LibraryPlan changed = plan;
    if (plan.steps[i].trips > 1) {
      --changed.steps[i].trips;
      EXPECT_FALSE(is_right(changed)) << "step " << i << " with a trip less";
    }
    for (size_t j = 0; j < plan.steps[i].buffers.size(); ++j) {
      if (plan.steps[i].buffers[j].advance == 0) continue;
      changed = plan;
      changed.steps[i].buffers[j].advance = 0;
      EXPECT_FALSE(is_right(changed)) << "step " << i << ", buffer " << j << " stays";
      ++changes;
    }
  }
  EXPECT_GE(changes, 10U);
}

// In a channel of equal values, each addition rounds in the same direction.
TEST_F(CompiledNetworks, SumsOfEqualTermsAreRightWithTheBoundOfAnyValues) {
  network::Builder builder;
  builder.input("x", kF32, {int64_t{1}, int64_t{2}, int64_t{28}, int64_t{28}});
  builder.node("GlobalAveragePool", {"x"}, {"y"});
  const Network network = network::resolved(builder.finish({"y"}));
  const std::vector<network::NodeWorkload> regions = region_workloads(network, form_regions(network));
  const std::vector<network::RegionKernel> kernels = kernels_.of(network, regions);
  network::LoadedPlan loaded(plan_library(network, kernels, "net"), *target_);
  const network::PlaceVerifier verifier(network, regions, *target_);
  std::vector<Tensor> inputs = {zeros_like(network.tensors[static_cast<size_t>(network.inputs[0])])};
  inputs[0].fill_random(3);
  EXPECT_FALSE(verifier.verify(loaded, inputs).steps.at(0).any_values);
  for (int64_t i = 0; i < inputs[0].elements(); ++i) inputs[0].set(i, 0.0087440014);
  const network::VerifiedCall call = verifier.verify(loaded, inputs);
  EXPECT_TRUE(call.right());
  EXPECT_TRUE(call.steps.at(0).any_values);
  EXPECT_LT(call.steps.at(0).looseness, 1e-4);
}

}  // namespace
}  // namespace tunesmith
