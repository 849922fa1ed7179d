#include "tunesmith/network/verify_in_place.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::network {
namespace {

/// References of these few operations are interpreted.
class NoTarget final : public Target {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "none"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected("it compiles nothing");
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override { return nullptr; }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }

 private:
  DeviceModel device_;
};

/// A library whose steps are interpreted: those of `made` on the tensors of `network`.
class InterpretedLibrary final : public RunnableNetwork {
 public:
  InterpretedLibrary(const Network& network, const std::vector<NodeWorkload>& named,
                     const std::vector<NodeWorkload>& made)
      : network_(network), named_(named), made_(made) {
    for (const NodeWorkload& region : named) {
      const Program& program = region.workload.program;
      for (size_t i = 0; i < region.inputs.size(); ++i) allocate(region.inputs[i], *program.inputs[i]);
      for (size_t i = 0; i < region.outputs.size(); ++i) allocate(region.outputs[i], *program.outputs[i]);
    }
  }

  int steps() const override { return static_cast<int>(named_.size()); }
  std::string step_name(int step) const override { return region(step).workload.name; }
  size_t buffers(int step) const override { return region(step).inputs.size() + region(step).outputs.size(); }
  bool reads(int /*step*/, size_t /*buffer*/) const override { return true; }

  void run(std::span<void* const> data, const StepObserver& observer) override {
    std::map<TensorIndex, std::byte*> at;
    for (auto& [tensor, bytes] : memory_) at[tensor] = bytes.data();
    size_t argument = 0;
    for (const auto& tensors : {network_.inputs, network_.outputs})
      for (const TensorIndex tensor : tensors) at[tensor] = static_cast<std::byte*>(data[argument++]);
    observer(-1, nullptr);
    for (int step = 0; step < steps(); ++step) {
      const Program& program = made_[static_cast<size_t>(step)].workload.program;
      std::vector<void*> buffers;
      for (const auto& tensors : {region(step).inputs, region(step).outputs})
        for (const TensorIndex tensor : tensors) buffers.push_back(at.at(tensor));
      std::vector<tunesmith::Tensor> values;
      for (const std::vector<Buffer>& some : {program.inputs, program.outputs})
        for (const Buffer& buffer : some)
          values.push_back(load_from(*buffer, static_cast<const std::byte*>(buffers[values.size()])));
      found.push_back(values.front());
      interpret(program, values);
      for (size_t i = program.inputs.size(); i < values.size(); ++i)
        store_in(*program.outputs[i - program.inputs.size()], values[i], static_cast<std::byte*>(buffers[i]));
      observer(step, buffers.data());
    }
  }

  std::vector<tunesmith::Tensor> found;  ///< the first input of each step that was run

 private:
  const NodeWorkload& region(int step) const { return named_[static_cast<size_t>(step)]; }
  void allocate(TensorIndex tensor, const BufferNode& buffer) {
    const Constant* const constant = network_.tensors[static_cast<size_t>(tensor)].constant.get();
    std::vector<std::byte>& bytes = memory_[tensor];
    bytes.resize(static_cast<size_t>(buffer.bytes()));
    if (constant != nullptr) bytes.assign(constant->bytes.begin(), constant->bytes.end());
  }

  const Network& network_;
  const std::vector<NodeWorkload>&named_, &made_;
  std::map<TensorIndex, std::vector<std::byte>> memory_;
};

/// A masked softmax along an axis, and a product of its results.
Network masked_softmax(int64_t axis) {
  Builder builder;
  builder.input("x", kF32, {int64_t{8}, int64_t{8}});
  builder.input("mask", kF32, {int64_t{8}, int64_t{8}});
  builder.node("Mul", {"x", "third"}, {"y"});
  builder.numbers("third", {1}, {1.0 / 3.0});
  builder.node("Add", {"y", "mask"}, {"z"});
  builder.node("Softmax", {"z"}, {"p"}, {{"axis", axis}});
  builder.node("MatMul", {"p", "w"}, {"out"});
  builder.numbers("w", {8, 8}, weights(64, 7));
  return resolved(builder.finish({"out"}));
}

// Where all is masked, whatever is computed is within the bounds.
TEST(PlaceVerifier, DrawsDataForAStepWithUselessBounds) {
  NoTarget target;
  const Network network = masked_softmax(1), other = masked_softmax(0);
  const std::vector<NodeWorkload> regions = region_workloads(network, form_regions(network)),
                                  others = region_workloads(other, form_regions(other));
  ASSERT_EQ(regions.size(), 2u);
  std::vector<tunesmith::Tensor> inputs(2, tunesmith::Tensor::zeros(kF32, {8, 8}));
  inputs[0].fill_random(1);
  for (int64_t i = 0; i < 64; ++i) inputs[1].set(i, -std::numeric_limits<float>::max());
  const PlaceVerifier verifier(network, regions, target);

  InterpretedLibrary right(network, regions, regions);
  const VerifiedCall call = verifier.verify(right, inputs);
  EXPECT_TRUE(call.right());
  EXPECT_TRUE(call.steps[0].drawn);
  EXPECT_LT(call.steps[0].looseness, 0.05);
  EXPECT_FALSE(call.steps[1].drawn);
  ASSERT_EQ(right.found.size(), 4u);
  EXPECT_NE(right.found[2], right.found[0]);
  EXPECT_EQ(right.found[3], right.found[1]) << "the next step finds what it has found before";

  InterpretedLibrary wrong(network, regions, others);
  const VerifiedCall refused = verifier.verify(wrong, inputs);
  EXPECT_FALSE(refused.right());
  ASSERT_EQ(refused.steps[0].faults.size(), 1u);
  EXPECT_NE(refused.steps[0].faults[0].find("on data drawn for it"), std::string::npos);

  // On a mask of some elements it is seen at once.
  for (int64_t i = 0; i < 64; i += 3) inputs[1].set(i, 0.0);
  EXPECT_TRUE(verifier.verify(right, inputs).right());
  EXPECT_FALSE(verifier.verify(right, inputs).steps[0].drawn);
  EXPECT_FALSE(verifier.verify(wrong, inputs).right());
}

// The mask is the network's, and no data make the step's results known.
TEST(PlaceVerifier, SaysWhichStepIsNotVerified) {
  NoTarget target;
  Builder builder;
  builder.input("x", kF32, {int64_t{8}});
  builder.node("Mul", {"x", "third"}, {"y"});
  builder.numbers("third", {1}, {1.0 / 3.0});
  builder.node("Add", {"y", "large"}, {"z"});
  builder.numbers("large", {1}, {1e12});
  builder.node("Sub", {"z", "large"}, {"out"});
  const Network network = resolved(builder.finish({"out"}));
  const std::vector<NodeWorkload> regions = region_workloads(network, form_regions(network));
  ASSERT_EQ(regions.size(), 1u);
  std::vector<tunesmith::Tensor> inputs{tunesmith::Tensor::zeros(kF32, {8})};
  inputs[0].fill_random(1);
  InterpretedLibrary library(network, regions, regions);
  const VerifiedCall call = PlaceVerifier(network, regions, target).verify(library, inputs);
  EXPECT_FALSE(call.right());
  ASSERT_EQ(call.steps[0].faults.size(), 1u);
  EXPECT_EQ(call.steps[0].faults[0].find("is not verified: "), 0u) << call.steps[0].faults[0];
}

}  // namespace
}  // namespace tunesmith::network
