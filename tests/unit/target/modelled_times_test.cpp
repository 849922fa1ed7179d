// The defaults of a target, and the use of modelled times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/measuring/peak.h"
#include "tunesmith/records/record.h"
#include "tunesmith/support/error.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/separate_device.h"
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
class ModellingTarget final : public Target, public Benchmarking, public SeparateDevice {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "modelling"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  const ExecutionModel& execution() const override { return execution_; }
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
  Benchmarking* benchmarking() override { return this; }
  PeakKernel peak_kernel(DType /*type*/, int /*threads*/) override { return {{}, 1e9}; }
  double measure_copy_bandwidth(int /*threads*/) override { return 1; }
  SeparateDevice* separate_device() override { return this; }
  bool models_times() const override { return true; }
  tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& /*lowered*/,
                                                              const std::string& symbol) override {
    return CompiledKernel{"trusted", symbol};
  }

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

// Candidates are verified as twins only if the target asks for it. A twin's time never counts.
TEST(ModelledTimes, NoTwinsAreVerifiedUnlessATargetSaysSo) {
  ModellingTarget target;
  EXPECT_TRUE(models_times(target));
  EXPECT_EQ(twins_of(target), nullptr);
  EXPECT_EQ(compile_reference(target, {}, "k")->object, "trusted");
}

/// Compiles, and has no facet.
class PlainTarget final : public Target {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "plain"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& symbol) override {
    return CompiledKernel{"compiled", symbol};
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    return std::make_unique<PlainKernel>();
  }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }

 private:
  DeviceModel device_;
};

TEST(Facets, ATargetWithoutAnyCompilesAndNoMore) {
  PlainTarget target;
  EXPECT_EQ(target.packaging(), nullptr);
  EXPECT_EQ(target.intrinsic_compiler(), nullptr);
  EXPECT_FALSE(models_times(target));
  EXPECT_EQ(twins_of(target), nullptr);
  EXPECT_EQ(compile_reference(target, {}, "k")->object, "compiled");
  EXPECT_THAT([&] { measure_peak(target, kF32, 1); },
              testing::ThrowsMessage<EnvironmentError>("plain measures no peaks"));
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
