// Whole networks, compiled without any schedule, against their evaluation.
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

/// Of what these operators compute, f32 keeps at least four digits here.
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

// Each addition of a channel of equal values is rounded in the same direction.
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
