// What a target says of itself when it says nothing, and what is made of a model's times.
#include <gtest/gtest.h>

#include "tunesmith/records/record.h"
#include "tunesmith/target/target.h"

namespace tunesmith {
namespace {

class PlainKernel : public LoadedKernel {
 public:
  tunesmith_kernel entry() const override { return nullptr; }
};

class ModelledKernel final : public PlainKernel {
 public:
  std::optional<double> modelled_seconds() const override { return 0.25; }
};

/// Has no device, and a kernel that must not be called.
class ModellingTarget final : public Target {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "modelling"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  const ExecutionModel& execution() const override { return execution_; }
  bool models_times() const override { return true; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected(std::string("nothing"));
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    return std::make_unique<ModelledKernel>();
  }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }
  LibraryFiles build_library(const LibraryRequest& /*request*/) override { return {}; }
  PeakKernel peak_kernel(DType /*type*/, int /*threads*/) override { return {{}, 1e9}; }
  double measure_copy_bandwidth(int /*threads*/) override { return 1; }

 private:
  DeviceModel device_;
  ExecutionModel execution_{{{"lane", {"x"}, {4}, 4, true}}, {{kScopeGlobal, "", 0, 64, 0, 0}}};
};

TEST(ModelledTimes, KernelsAreTimedAndHaveNoFaultUnlessTheySay) {
  PlainKernel kernel;
  EXPECT_FALSE(kernel.modelled_seconds().has_value());
  EXPECT_FALSE(kernel.take_fault().has_value());
}

TEST(ModelledTimes, APeakIsTheModelsWithoutACall) {
  ModellingTarget target;
  EXPECT_DOUBLE_EQ(measure_peak(target, kF32, 1), 4e9);
}

TEST(ModelledTimes, ProgramsAreLoweredForTheLevelsOfTheTarget) {
  const ModellingTarget target;
  EXPECT_EQ(lower_options_of(target).execution, target.execution());
  EXPECT_NE(target.execution(), host_execution());
}

// Only a target that says so has its candidates verified as twins: no time of a twin is ever taken.
TEST(ModelledTimes, NoTwinsAreVerifiedUnlessATargetSaysSo) {
  ModellingTarget target;
  EXPECT_FALSE(target.verifies_twins());
  const LoweredProgram lowered;
  EXPECT_THROW(static_cast<void>(target.compile_twin(lowered, lowered, "k")), InternalError);
  EXPECT_EQ(target.compile_reference(lowered, "k").error(), target.compile(lowered, "k").error());
}

TEST(ModelledTimes, RecordsOfTheirTasksAreCalledSo) {
  Record record;
  EXPECT_FALSE(record.modelled());
  record.device = kModelledDevice;
  EXPECT_TRUE(record.modelled());
  EXPECT_NE(record.task(), Record().task());
}

}  // namespace
}  // namespace tunesmith
