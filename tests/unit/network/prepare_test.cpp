#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "onnx_network.h"
#include "operators_onnx/find_operator.h"
#include "tunesmith/network/pass.h"
#include "tunesmith/network/plan_library.h"

namespace tunesmith::network {
namespace {

/// What prepare_copy() was given.
struct Seen {
  size_t misalignment = 0;
  float first = 0;
};
Seen seen;

/// Copies its second buffer, eight numbers, into the prepared memory.
void prepare_copy(void* const* buffers, void* /*workspace*/, tunesmith_parallel_for /*parallel_for*/,
                  void* /*pool*/) {
  seen.misalignment = reinterpret_cast<uintptr_t>(buffers[1]) % alignof(float);
  std::memcpy(&seen.first, buffers[1], sizeof seen.first);
  std::memcpy(buffers[3], buffers[1], 8 * sizeof(float));
}

class CopyingKernel final : public LoadedKernel {
 public:
  tunesmith_kernel entry() const override { return nullptr; }
  tunesmith_kernel prepare() const override { return &prepare_copy; }
};

class CopyingTarget final : public Target {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "copying"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& symbol) override {
    return CompiledKernel{"", symbol};
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    return std::make_unique<CopyingKernel>();
  }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }

 private:
  DeviceModel device_;
};

TEST(Prepare, GivesConstantsAlignedThatLieAnywhereInAFile) {
  Builder builder;
  builder.input("X", kF32, {int64_t{8}});
  builder.numbers("W", {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  builder.node("Add", {"X", "W"}, {"Y"});
  Network network = builder.finish({"Y"});
  run_passes(network, {operators_onnx::find_operator, {}});
  // The same values at an odd address.
  Tensor& weights = network.tensors[static_cast<size_t>(network.nodes[0].inputs[1])];
  const auto file = std::make_shared<std::vector<std::byte>>(1);
  file->insert(file->end(), weights.constant->bytes.begin(), weights.constant->bytes.end());
  weights.constant = std::make_shared<Constant>(Constant{kF32, {8}, std::span(*file).subspan(1), file});

  const size_t node[] = {0};
  CompiledKernel kernel{"", "k"};
  kernel.prepare = PrepareStep{"p", 8 * sizeof(float), {1}, {1}};
  CopyingTarget target;
  const std::vector<std::byte> prepared = prepare(network, workload_of(network, node), kernel, target);
  EXPECT_EQ(seen.misalignment, 0U);
  EXPECT_EQ(seen.first, 1.0F);
  EXPECT_TRUE(std::ranges::equal(prepared, weights.constant->bytes));
}

}  // namespace
}  // namespace tunesmith::network
