// Exceptions and wrong answers of a plugin's loaded kernel name the plugin.
#include "tunesmith/target/guarded_kernel.h"

#include <limits>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/plugin/error.h"

namespace tunesmith {
namespace {

void add_nothing(void* const* /*buffers*/, void* /*workspace*/, tunesmith_parallel_for /*parallel_for*/,
                 void* /*pool*/) {}

enum class Behaves { Well, Throws, ThrowsNoException, AnswersNonsense };

class SomeKernel final : public LoadedKernel {
 public:
  SomeKernel(Behaves behaves, double seconds) : behaves_(behaves), seconds_(seconds) {}
  tunesmith_kernel entry() const override { return answer(&add_nothing, tunesmith_kernel{nullptr}); }
  tunesmith_kernel prepare() const override { return answer(&add_nothing, &add_nothing); }
  std::optional<KernelFault> take_fault() override {
    return answer(std::optional<KernelFault>(), std::optional<KernelFault>());
  }
  std::optional<double> modelled_seconds() const override {
    return answer(std::optional(0.5), std::optional(seconds_));
  }
  std::optional<double> device_seconds(int /*calls*/, void* const* /*buffers*/,
                                       void* /*workspace*/) override {
    return answer(std::optional(0.25), std::optional(seconds_));
  }

 private:
  template <typename T>
  T answer(T right, T wrong) const {
    if (behaves_ == Behaves::Throws) throw std::runtime_error("boom");
    if (behaves_ == Behaves::ThrowsNoException) throw 1;  // NOLINT(hicpp-exception-baseclass): a stranger may
    return behaves_ == Behaves::Well ? right : wrong;
  }

  const Behaves behaves_;
  const double seconds_;
};

class SomeTarget final : public Target {
 public:
  explicit SomeTarget(Behaves behaves, double seconds = 0.0) : behaves_(behaves), seconds_(seconds) {}
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "some"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected(std::string("nothing"));
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override {
    if (kernel.object == "throws") throw std::runtime_error("boom");
    if (kernel.object == "none") return nullptr;
    return std::make_unique<SomeKernel>(behaves_, seconds_);
  }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }

 private:
  DeviceModel device_;
  const Behaves behaves_;
  const double seconds_;
};

std::unique_ptr<LoadedKernel> loaded(Behaves behaves, double seconds = 0.0) {
  SomeTarget target(behaves, seconds);
  return load_guarded(target, "some", {});
}

/// The message of the error that a call throws.
template <typename Call>
std::string thrown(const Call& call) {
  try {
    call();
  } catch (const PluginError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(GuardedKernel, AnswersAsTheKernelDoes) {
  const auto kernel = loaded(Behaves::Well);
  EXPECT_EQ(kernel->entry(), &add_nothing);
  EXPECT_EQ(kernel->prepare(), &add_nothing);
  EXPECT_FALSE(kernel->take_fault());
  EXPECT_EQ(kernel->modelled_seconds(), 0.5);
  EXPECT_EQ(kernel->device_seconds(1, nullptr, nullptr), 0.25);
}

TEST(GuardedKernel, NamesWhoThrows) {
  for (const Behaves behaves : {Behaves::Throws, Behaves::ThrowsNoException}) {
    const auto kernel = loaded(behaves);
    const std::string what =
        behaves == Behaves::Throws ? "threw: boom" : "threw something that is no exception";
    EXPECT_EQ(thrown([&] { kernel->entry(); }), "target 'some': [P12] entry " + what);
    EXPECT_EQ(thrown([&] { kernel->prepare(); }), "target 'some': [P12] prepare " + what);
    EXPECT_EQ(thrown([&] { kernel->take_fault(); }), "target 'some': [P12] take_fault " + what);
    EXPECT_EQ(thrown([&] { kernel->modelled_seconds(); }), "target 'some': [P12] modelled_seconds " + what);
    EXPECT_EQ(thrown([&] { kernel->device_seconds(1, nullptr, nullptr); }),
              "target 'some': [P12] device_seconds " + what);
  }
}

TEST(GuardedKernel, RefusesWhatIsNoAnswer) {
  for (const double seconds :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto kernel = loaded(Behaves::AnswersNonsense, seconds);
    EXPECT_THAT(thrown([&] { kernel->modelled_seconds(); }),
                testing::StartsWith("target 'some': modelled_seconds of a kernel is "));
    EXPECT_THAT(thrown([&] { kernel->device_seconds(1, nullptr, nullptr); }),
                testing::StartsWith("target 'some': device_seconds of a kernel is "));
    EXPECT_EQ(thrown([&] { kernel->entry(); }), "target 'some': a loaded kernel has no entry");
  }
}

TEST(GuardedKernel, LoadingIsACallOfThePlugin) {
  SomeTarget target(Behaves::Well);
  EXPECT_EQ(thrown([&] { load_guarded(target, "some", {"throws", "", 0, 0.0}); }),
            "target 'some': [P12] load threw: boom");
  EXPECT_EQ(thrown([&] { load_guarded(target, "some", {"none", "", 0, 0.0}); }),
            "target 'some': load() returned null");
}

}  // namespace
}  // namespace tunesmith
