#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <tunesmith/measuring/machine_lock.h>
#include <tunesmith/measuring/peak.h>
#include <tunesmith/records/environment.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/support/version.h>
#include <tunesmith/target/benchmarking.h>
#include <tunesmith/target/separate_device.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "next_command.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

/// Returns `path`, or its nearest ancestor that exists.
std::filesystem::path existing_folder(std::filesystem::path path) {
  while (!path.empty() && !std::filesystem::exists(path)) path = path.parent_path();
  return path.empty() ? std::filesystem::path(".") : path;
}

struct Speeds {
  double peak_of_one = 0.0;  // operations a second
  double peak = 0.0;         // with all threads
  double copy = 0.0;         // bytes a second
};

/// Nothing if the target has no benchmarks.
std::optional<Speeds> measure_speeds(Target& target, int threads) {
  Benchmarking* const benchmarking = target.benchmarking();
  if (benchmarking == nullptr) return std::nullopt;
  const MachineLock::Turn turn = machine_lock()->wait(MachineLock::Use::Measure);
  return Speeds{measure_peak(target, kF32, 1), measure_peak(target, kF32, threads),
                benchmarking->measure_copy_bandwidth(threads)};
}

/// Findings about this machine and its installation.
struct Findings {
  Environment environment;
  std::string identity;  // the target's
  DeviceModel device;
  std::string remark;
  int threads = 0;
  std::optional<Speeds> speeds;
  std::vector<std::pair<PluginInfo, std::string>> plugins;  // each with its fault; "" if it loads
  std::string database;
  bool writable = false;

  /// What prevents Tunesmith from working here, each with a remedy; empty if it is ready.
  std::vector<std::string> obstacles() const {
    std::vector<std::string> all;
    if (!writable)
      all.push_back(fmt::format(
          "cannot write records to {}: make its folder writable, or give another file with --database",
          database));
    for (const auto& [info, fault] : plugins) {
      if (!fault.empty())
        all.push_back(fmt::format(
            "{} {} does not load: repair or remove its pack ('tunesmith plugins list --why' shows the path)",
            kind_name(info.kind), info.id));
    }
    return all;
  }
};

Findings find_out(Session& session, const Space& space) {
  Findings found;
  found.environment = detect_environment(space.plugin_versions());
  Target& target = space.target();
  found.identity = target.identity();
  found.device = space.device();
  SeparateDevice* const device = target.separate_device();
  if (device != nullptr) found.remark = device->remark();
  found.threads = static_cast<int>(available_processors());
  found.speeds = measure_speeds(target, found.threads);
  for (const PluginInfo& info : session.registry().list())
    found.plugins.emplace_back(info, session.registry().probe(info.kind, info.id));
  found.database = database_path("");
  const std::filesystem::path existing = existing_folder(found.database);
  std::error_code unknown;
  found.writable = access(existing.c_str(), W_OK) == 0 &&
                   (existing == found.database || std::filesystem::is_directory(existing, unknown));
  return found;
}

nlohmann::json to_json(const Findings& found) {
  nlohmann::json plugins = nlohmann::json::array();
  for (const auto& [info, fault] : found.plugins)
    plugins.push_back({{"kind", kind_name(info.kind)}, {"id", info.id}, {"fault", fault}});
  const auto giga = [&](double Speeds::* speed) {
    return found.speeds ? nlohmann::json((*found.speeds).*speed * 1e-9) : nlohmann::json();
  };
  return {{"version", kernel_version()},
          {"environment", nlohmann::json::parse(found.environment.text())},
          {"target", found.identity},
          {"device", found.device.all()},
          {"remark", found.remark},
          {"peak_gflops_one_thread", giga(&Speeds::peak_of_one)},
          {"peak_gflops", giga(&Speeds::peak)},
          {"copy_gbytes_per_second", giga(&Speeds::copy)},
          {"plugins", plugins},
          {"database", found.database},
          {"database_writable", found.writable},
          {"healthy", found.obstacles().empty()},
          {"obstacles", found.obstacles()}};
}

/// One line per kind, and one for each plugin that does not load.
void print_plugins(const Findings& found) {
  std::map<std::string, std::vector<std::string>> load;
  for (const auto& [info, fault] : found.plugins) {
    if (fault.empty()) load[std::string(kind_name(info.kind))].push_back(info.id);
  }
  for (const auto& [kind, ids] : load) fmt::print(output(), "loads     {}: {}\n", kind, fmt::join(ids, ", "));
  for (const auto& [info, fault] : found.plugins) {
    if (!fault.empty()) fmt::print(output(), "FAULT     {} {}: {}\n", kind_name(info.kind), info.id, fault);
  }
}

/// `next`: the suggested next command.
void print(const Findings& found, const std::string& next) {
  fmt::print(output(), "tunesmith {} ({})\n", kernel_version(), kernel_compiler());
  fmt::print(output(), "machine   {}, {} processors\n", found.environment.cpu_model,
             found.environment.processors);
  fmt::print(output(), "target    {}\n          {}\n", found.identity, found.device.description);
  for (const auto& [name, value] : found.device.all())
    fmt::print(output(), "          {} = {}\n", name, value);
  if (!found.remark.empty()) fmt::print(output(), "          {}\n", found.remark);
  if (found.speeds) {
    fmt::print(output(), "peak      {:.1f} GFLOP/s f32 on one thread, {:.1f} on {}\n",
               found.speeds->peak_of_one * 1e-9, found.speeds->peak * 1e-9, found.threads);
    fmt::print(output(), "copy      {:.1f} GB/s read and written on {} threads\n", found.speeds->copy * 1e-9,
               found.threads);
  } else {
    fmt::print(output(), "peak      not supported by this target\n");
  }
  fmt::print(output(), "records   {} ({})\n", found.database,
             found.writable ? "can be written" : "CANNOT be written");
  print_plugins(found);
  const std::vector<std::string> obstacles = found.obstacles();
  if (obstacles.empty()) {
    fmt::print(output(), "ready     programs can be compiled, measured and recorded; next: {}\n", next);
    return;
  }
  fmt::print(output(), "NOT READY\n");
  for (const std::string& obstacle : obstacles) fmt::print(output(), "          {}\n", obstacle);
}

}  // namespace

int run_doctor(const Common& common) {
  Session session(common);
  const auto space = session.space();
  const Findings found = find_out(session, *space);
  if (common.json)
    print_json(to_json(found));
  else
    print(found, spoken_command(with_same_place({"tune", "gmm"}, common, "", 0)));
  return found.obstacles().empty() ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
