#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <tunesmith/measure/environment.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/support/version.h>
#include <tunesmith/target/benchmarking.h>
#include <tunesmith/target/separate_device.h>

#include "commands.h"
#include "exit_codes.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

/// The nearest folder above `path` that exists.
std::filesystem::path existing_folder(std::filesystem::path path) {
  while (!path.empty() && !std::filesystem::exists(path)) path = path.parent_path();
  return path.empty() ? std::filesystem::path(".") : path;
}

struct Speeds {
  double peak_of_one = 0.0;  // operations a second
  double peak = 0.0;         // of all threads
  double copy = 0.0;         // bytes a second
};

/// Nothing where the target measures none.
std::optional<Speeds> measure_speeds(Target& target, int threads) {
  Benchmarking* const benchmarking = target.benchmarking();
  if (benchmarking == nullptr) return std::nullopt;
  const MachineLock::Turn turn = machine_lock()->wait(MachineLock::Use::Measure);
  return Speeds{measure_peak(target, kF32, 1), measure_peak(target, kF32, threads),
                benchmarking->measure_copy_bandwidth(threads)};
}

}  // namespace

int run_doctor(const Common& common) {
  Session session(common);
  const auto space = session.space();
  const Environment environment = detect_environment(space->plugin_versions());
  const int threads = static_cast<int>(available_processors());
  Target& target = space->target();
  const std::optional<Speeds> speeds = measure_speeds(target, threads);
  nlohmann::json plugins = nlohmann::json::array();
  bool healthy = true;
  for (const PluginInfo& info : session.registry().list()) {
    const std::string fault = session.registry().probe(info.kind, info.id);
    healthy = healthy && fault.empty();
    plugins.push_back({{"kind", kind_name(info.kind)}, {"id", info.id}, {"fault", fault}});
  }
  const std::string database = database_path("");
  SeparateDevice* const device = target.separate_device();
  const std::string remark = device != nullptr ? device->remark() : "";
  const bool writable = access(existing_folder(database).c_str(), W_OK) == 0;
  healthy = healthy && writable;

  if (common.json) {
    nlohmann::json quantities(space->device().all());
    const auto giga = [&](double Speeds::* speed) {
      return speeds ? nlohmann::json((*speeds).*speed * 1e-9) : nlohmann::json();
    };
    fmt::print(output(), "{}\n",
               nlohmann::json{{"version", kernel_version()},
                              {"environment", nlohmann::json::parse(environment.text())},
                              {"target", target.identity()},
                              {"device", quantities},
                              {"remark", remark},
                              {"peak_gflops_one_thread", giga(&Speeds::peak_of_one)},
                              {"peak_gflops", giga(&Speeds::peak)},
                              {"copy_gbytes_per_second", giga(&Speeds::copy)},
                              {"plugins", plugins},
                              {"database", database},
                              {"database_writable", writable},
                              {"healthy", healthy}}
                   .dump());
    return healthy ? kDone : kEnvironmentFault;
  }
  fmt::print(output(), "tunesmith {} ({})\n", kernel_version(), kernel_compiler());
  fmt::print(output(), "machine   {}, {} processors\n", environment.cpu_model, environment.processors);
  fmt::print(output(), "target    {}\n          {}\n", target.identity(), space->device().description);
  for (const auto& [name, value] : space->device().all())
    fmt::print(output(), "          {} = {}\n", name, value);
  if (!remark.empty()) fmt::print(output(), "          {}\n", remark);
  if (speeds) {
    fmt::print(output(), "peak      {:.1f} GFLOP/s f32 on one thread, {:.1f} on {}\n",
               speeds->peak_of_one * 1e-9, speeds->peak * 1e-9, threads);
    fmt::print(output(), "copy      {:.1f} GB/s read and written on {} threads\n", speeds->copy * 1e-9,
               threads);
  } else {
    fmt::print(output(), "peak      not measured by this target\n");
  }
  fmt::print(output(), "records   {} ({})\n", database, writable ? "can be written" : "CANNOT be written");
  for (const auto& plugin : plugins) {
    const std::string fault = plugin.at("fault");
    fmt::print(output(), "plugin    {} {}: {}\n", plugin.at("kind").get<std::string>(),
               plugin.at("id").get<std::string>(), fault.empty() ? "loads" : fault);
  }
  return healthy ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
