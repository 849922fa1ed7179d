#include "tunesmith/target/guarded_kernel.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"

namespace tunesmith {
namespace {

class GuardedKernel final : public LoadedKernel {
 private:
  template <typename Function>
  auto call(const char* name, Function&& function) const {
    return guard_plugin(PluginKind::Target, id_, name, std::forward<Function>(function));
  }
  std::optional<double> time(const char* name, std::optional<double> seconds) const {
    if (seconds && !(std::isfinite(*seconds) && *seconds > 0.0))
      throw PluginError(PluginKind::Target, id_, fmt::format("{} of a kernel is {}", name, *seconds));
    return seconds;
  }

 public:
  GuardedKernel(std::string id, std::unique_ptr<LoadedKernel> kernel)
      : id_(std::move(id)), kernel_(std::move(kernel)) {}

  tunesmith_kernel entry() const override {
    const tunesmith_kernel kernel = call("entry", [&] { return kernel_->entry(); });
    if (kernel == nullptr) throw PluginError(PluginKind::Target, id_, "a loaded kernel has no entry");
    return kernel;
  }
  tunesmith_kernel prepare() const override {
    return call("prepare", [&] { return kernel_->prepare(); });
  }
  std::optional<KernelFault> take_fault() override {
    return call("take_fault", [&] { return kernel_->take_fault(); });
  }
  std::optional<double> modelled_seconds() const override {
    return time("modelled_seconds", call("modelled_seconds", [&] { return kernel_->modelled_seconds(); }));
  }
  std::optional<double> device_seconds(int calls, void* const* buffers, void* workspace) override {
    return time("device_seconds",
                call("device_seconds", [&] { return kernel_->device_seconds(calls, buffers, workspace); }));
  }

 private:
  const std::string id_;
  const std::unique_ptr<LoadedKernel> kernel_;
};

}  // namespace

std::unique_ptr<LoadedKernel> load_guarded(Target& target, const std::string& id,
                                           const CompiledKernel& kernel) {
  std::unique_ptr<LoadedKernel> loaded =
      guard_plugin(PluginKind::Target, id, "load", [&] { return target.load(kernel); });
  if (!loaded) throw PluginError(PluginKind::Target, id, "load() returned null");
  return std::make_unique<GuardedKernel>(id, std::move(loaded));
}

}  // namespace tunesmith
