// A target whose functions and facets are guarded calls of its plugin.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/watched_plugins.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/guarded_kernel.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/target/twin_verification.h"

namespace tunesmith {
namespace {

/// Calls into the code of the target `id`.
class TargetCalls {
 public:
  explicit TargetCalls(std::string id) : id_(std::move(id)) {}
  const std::string& id() const { return id_; }

  template <typename Function>
  decltype(auto) call(std::string_view name, Function&& function) const {
    return guard_plugin(PluginKind::Target, id_, name, std::forward<Function>(function));
  }
  /// A refusal is the candidate's failure.
  template <typename Function>
  tl::expected<CompiledKernel, std::string> compiled(std::string_view name, const Function& function) const {
    return call(name, [&]() -> tl::expected<CompiledKernel, std::string> {
      try {
        return function();
      } catch (const LowerError& refusal) {
        return tl::make_unexpected(std::string(refusal.what()));
      }
    });
  }
  /// Like compiled(), for functions that cannot return a refusal.
  template <typename Function>
  auto refusing(std::string_view name, const Function& function) const {
    std::optional<LowerError> refusal;
    auto answer = call(name, [&]() -> std::optional<decltype(function())> {
      try {
        return function();
      } catch (const LowerError& error) {
        refusal = error;
        return std::nullopt;
      }
    });
    if (refusal) throw LowerError(*refusal);
    return *std::move(answer);
  }

 private:
  const std::string id_;
};

class WatchedPackaging final : public Packaging {
 public:
  WatchedPackaging(const TargetCalls& calls, Packaging& packaging) : calls_(calls), packaging_(packaging) {}

  LibraryFiles build_library(const LibraryRequest& request) override {
    return calls_.call("build_library", [&] { return packaging_.build_library(request); });
  }
  LibraryFiles link_library(const LinkRequest& request) override {
    return calls_.call("link_library", [&] { return packaging_.link_library(request); });
  }

 private:
  const TargetCalls& calls_;
  Packaging& packaging_;
};

class WatchedBenchmarking final : public Benchmarking {
 public:
  WatchedBenchmarking(const TargetCalls& calls, Benchmarking& benchmarking)
      : calls_(calls), benchmarking_(benchmarking) {}

  PeakKernel peak_kernel(DType type, int threads) override {
    return calls_.call("peak_kernel", [&] { return benchmarking_.peak_kernel(type, threads); });
  }
  double measure_copy_bandwidth(int threads) override {
    return calls_.call("measure_copy_bandwidth",
                       [&] { return benchmarking_.measure_copy_bandwidth(threads); });
  }

 private:
  const TargetCalls& calls_;
  Benchmarking& benchmarking_;
};

class WatchedTwinFinder final : public ReducedInstanceFinder {
 public:
  WatchedTwinFinder(const TargetCalls& calls, std::unique_ptr<ReducedInstanceFinder> finder)
      : calls_(calls), finder_(std::move(finder)) {}

  std::optional<Twin> find(const Candidate& candidate) const override {
    return calls_.refusing("find", [&] { return finder_->find(candidate); });
  }

 private:
  const TargetCalls& calls_;
  const std::unique_ptr<ReducedInstanceFinder> finder_;
};

class WatchedTwins final : public TwinVerification {
 public:
  WatchedTwins(const TargetCalls& calls, TwinVerification& twins) : calls_(calls), twins_(twins) {}

  std::unique_ptr<ReducedInstanceFinder> make_finder(const Workload& workload,
                                                     const Space& space) const override {
    auto finder = calls_.call("make_finder", [&] { return twins_.make_finder(workload, space); });
    if (finder == nullptr)
      throw PluginError(PluginKind::Target, calls_.id(), "[P26] make_finder() returned null");
    return std::make_unique<WatchedTwinFinder>(calls_, std::move(finder));
  }
  tl::expected<CompiledKernel, std::string> compile_reduced_instance(const LoweredProgram& lowered,
                                                                     const LoweredProgram& twin,
                                                                     const std::string& symbol) override {
    return calls_.compiled("compile_reduced_instance",
                           [&] { return twins_.compile_reduced_instance(lowered, twin, symbol); });
  }

 private:
  const TargetCalls& calls_;
  TwinVerification& twins_;
};

class WatchedDevice final : public SeparateDevice {
 public:
  WatchedDevice(const TargetCalls& calls, SeparateDevice& device) : calls_(calls), device_(device) {
    TwinVerification* const twins = calls_.call("twins", [&] { return device_.twins(); });
    if (twins != nullptr) twins_.emplace(calls_, *twins);
  }

  void open() override {
    calls_.call("open", [&] { device_.open(); });
  }
  std::string remark() const override {
    return calls_.call("remark", [&] { return device_.remark(); });
  }
  bool models_times() const override {
    return calls_.call("models_times", [&] { return device_.models_times(); });
  }
  tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                              const std::string& symbol) override {
    return calls_.compiled("compile_reference", [&] { return device_.compile_reference(lowered, symbol); });
  }
  TwinVerification* twins() override { return twins_ ? &*twins_ : nullptr; }

 private:
  const TargetCalls& calls_;
  SeparateDevice& device_;
  std::optional<WatchedTwins> twins_;
};

class WatchedTarget final : public Target {
 public:
  WatchedTarget(std::string id, std::shared_ptr<Target> target)
      : calls_(std::move(id)), target_(std::move(target)) {
    if (Packaging* const facet = calls_.call("packaging", [&] { return target_->packaging(); }))
      packaging_.emplace(calls_, *facet);
    if (Benchmarking* const facet = calls_.call("benchmarking", [&] { return target_->benchmarking(); }))
      benchmarking_.emplace(calls_, *facet);
    if (SeparateDevice* const facet =
            calls_.call("separate_device", [&] { return target_->separate_device(); }))
      separate_device_.emplace(calls_, *facet);
  }

  ProbeResult probe() const override {
    return calls_.call("probe", [&] { return target_->probe(); });
  }
  const DeviceModel& device() const override {
    return calls_.call("device", [&]() -> const DeviceModel& { return target_->device(); });
  }
  const ExecutionModel& execution() const override {
    return calls_.call("execution", [&]() -> const ExecutionModel& { return target_->execution(); });
  }
  std::string identity() const override {
    return calls_.call("identity", [&] { return target_->identity(); });
  }
  std::string fingerprint() const override {
    return calls_.call("fingerprint", [&] { return target_->fingerprint(); });
  }
  LowerOptions lower_options() const override {
    return calls_.call("lower_options", [&] { return target_->lower_options(); });
  }
  Pipeline pipeline() const override {
    return calls_.call("pipeline", [&] { return target_->pipeline(); });
  }
  std::vector<std::string> consumes() const override {
    return calls_.call("consumes", [&] { return target_->consumes(); });
  }
  bool can_prepare() const override {
    return calls_.call("can_prepare", [&] { return target_->can_prepare(); });
  }
  bool has_feature(std::string_view name) const override {
    return calls_.call("has_feature", [&] { return target_->has_feature(name); });
  }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    return calls_.compiled("compile", [&] { return target_->compile(lowered, symbol); });
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override {
    return load_guarded(*target_, calls_.id(), kernel);
  }
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override {
    return calls_.refusing("assembly", [&] { return target_->assembly(lowered, symbol); });
  }
  std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol) override {
    return calls_.refusing("source", [&] { return target_->source(lowered, symbol); });
  }
  const IntrinsicCompiler* intrinsic_compiler() const override {
    return calls_.call("intrinsic_compiler", [&] { return target_->intrinsic_compiler(); });
  }
  Packaging* packaging() override { return packaging_ ? &*packaging_ : nullptr; }
  Benchmarking* benchmarking() override { return benchmarking_ ? &*benchmarking_ : nullptr; }
  SeparateDevice* separate_device() override { return separate_device_ ? &*separate_device_ : nullptr; }

 private:
  const TargetCalls calls_;
  const std::shared_ptr<Target> target_;
  std::optional<WatchedPackaging> packaging_;
  std::optional<WatchedBenchmarking> benchmarking_;
  std::optional<WatchedDevice> separate_device_;
};

}  // namespace

std::shared_ptr<Target> watched(std::string id, std::shared_ptr<Target> target) {
  return std::make_shared<WatchedTarget>(std::move(id), std::move(target));
}

}  // namespace tunesmith
