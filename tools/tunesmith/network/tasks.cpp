#include "tasks.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/products_in_floats.h>
#include <tunesmith/network/read_network.h>
#include <tunesmith/support/files.h>
#include <tunesmith/workload/param_range.h>

#include "common/exit_codes.h"
#include "common/print_json.h"
#include "next_command.h"
#include "output.h"
#include "say.h"

namespace tunesmith::cli {
namespace fs = std::filesystem;

namespace {

/// A positive number, or a range.
std::optional<ParamRange> value_of(const std::string& text, size_t equals) {
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  if (auto range = read_range(text.substr(equals + 1), "--dim " + text.substr(0, equals))) return range;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const bool is_number = std::from_chars(text.data() + equals + 1, end, value).ptr == end;
  return is_number && value >= 1 ? std::optional(ParamRange{value, value, {}}) : std::nullopt;
}

fs::path file_of(const TaskedNetwork& tasked, size_t task, const std::string& folder) {
  return fs::path(folder) / fmt::format("{:02}_{}.yaml", task + 1, tasked.workload(task).name);
}

/// Writes DIR/01_conv_relu.yaml and so on, and DIR/tasks.yaml, which `tunesmith tune` takes.
std::string write_tasks(const TaskedNetwork& tasked, const std::vector<int64_t>& counts,
                        const std::string& folder) {
  fs::create_directories(folder);
  std::string suite = fmt::format(
      "# The tasks of the network {}, each with how often a call runs it.\nnetwork:\n", tasked.network.name);
  for (size_t i = 0; i < tasked.tasks.size(); ++i) {
    const Workload& workload = tasked.workload(i);
    const fs::path path = file_of(tasked, i, folder);
    write_whole_file(path, workload.definition);
    // The key has the ranges of varying extents after the name.
    suite += fmt::format("  - \"{}{}\": {}\n", path.string(), workload.key.substr(workload.name.size()),
                         counts[i]);
  }
  const fs::path path = fs::path(folder) / "tasks.yaml";
  write_whole_file(path, suite);
  return path.string();
}

}  // namespace

network::Dimensions dimensions_of(const std::vector<std::string>& texts) {
  network::Dimensions dimensions;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::optional<ParamRange> value = value_of(text, equals);
    if (!value)
      throw UserError(
          fmt::format("--dim {}: not a dimension", text),
          "expected a name and a positive number or range, such as --dim batch=1 or --dim batch=1..16");
    const std::string name = text.substr(0, equals);
    if (!dimensions.emplace(name, *value).second)
      throw UserError(fmt::format("--dim {}: '{}' is given twice", text, name));
  }
  return dimensions;
}

std::optional<std::vector<int64_t>> values_given(const std::vector<network::VaryingExtent>& varying,
                                                 const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  const network::Dimensions given = dimensions_of(texts);
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const network::VaryingExtent& extent : varying) {
    const auto& [lowest, highest, typical] = extent.range;
    const auto found = given.find(extent.name);
    const bool is_fit = found != given.end() && found->second.lowest == found->second.highest &&
                        found->second.lowest >= lowest && found->second.highest <= highest;
    if (!is_fit)
      throw UserError(fmt::format("'{}' varies in this library from {} to {}", extent.name, lowest, highest),
                      fmt::format("give it a value: --dim {}={}", extent.name, highest));
    values.push_back(found->second.lowest);
    names.push_back(extent.name);
  }
  for (const auto& [name, range] : given)
    if (std::ranges::find(names, name) == names.end())
      throw UserError(fmt::format("--dim {}: this library has no varying extent with this name", name),
                      names.empty() ? "it was built for one shape: build it with --dim NAME=1..16"
                                    : fmt::format("varying extents: {}", fmt::join(names, ", ")));
  return values;
}

void require_known(const network::Network& network, const network::Dimensions& dimensions) {
  const std::set<std::string> open = network::open_extents(network);
  for (const auto& [name, range] : dimensions) {
    if (open.contains(name)) continue;
    throw UserError(
        fmt::format("--dim {}: the network has no open extent with this name", name),
        open.empty() ? "all its extents are fixed" : fmt::format("open extents: {}", fmt::join(open, ", ")));
  }
}

TaskedNetwork read_tasks(Session& session, const NetworkArguments& arguments,
                         const std::function<void(const network::Pass&, const network::Network&)>& after) {
  const network::ReadNetwork read =
      network::read_network(session.registry(), arguments.file, arguments.operators);
  const auto find = [&](std::string_view op, int64_t version) {
    return read.importer->find_operator(op, version);
  };
  const network::Dimensions dimensions = dimensions_of(arguments.dimensions);
  require_known(read.network, dimensions);
  bool is_first = true;  // `after` sees only the first instantiation
  const auto make = [&](const std::map<std::string, int64_t>& values, const std::set<std::string>& kept) {
    network::Network network = read.network;
    const network::PassOptions options{find, values, kept};
    run_passes(network, options, [&](const network::Pass& pass, const network::Network& made) {
      if (!is_first) return;
      if (pass.name == "multiply_integers")
        for (const std::string& line : network::products_in_floats(made, options)) say(line);
      if (after) after(pass, made);
    });
    is_first = false;
    return network;
  };
  return network::task_network(make, dimensions);
}

int run_network_tasks(const Common& common, const NetworkArguments& arguments) {
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, arguments);
  const std::vector<int64_t> counts = counts_of(tasked);
  const std::string suite = arguments.output.empty() ? "" : write_tasks(tasked, counts, arguments.output);
  double flops = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    flops += static_cast<double>(counts[i]) * tasked.workload(i).flops;
  if (common.json) {
    nlohmann::json list = nlohmann::json::array();
    for (size_t i = 0; i < tasked.tasks.size(); ++i) {
      const Workload& workload = tasked.workload(i);
      list.push_back({{"name", workload.name},
                      {"file", suite.empty() ? "" : file_of(tasked, i, arguments.output).string()},
                      {"shape", workload.program.outputs.front()->shape},
                      {"count", counts[i]},
                      {"flops", workload.flops},
                      {"bytes_min", workload.bytes_min}});
    }
    print_json({{"network", tasked.network.name},
                {"kernels", tasked.regions.size()},
                {"flops", flops},
                {"tasks", list},
                {"suite", suite}});
    return kDone;
  }
  fmt::print(output(),
             "{}: {} kernels a call, {} tasks, {:.3g} arithmetic operations\n\ncount  of the work  task\n",
             tasked.network.name, tasked.regions.size(), tasked.tasks.size(), flops);
  for (size_t i = 0; i < tasked.tasks.size(); ++i) {
    const Workload& workload = tasked.workload(i);
    const double share = flops > 0 ? static_cast<double>(counts[i]) * workload.flops / flops : 0;
    fmt::print(output(), "{:5}  {:10.1f} %  {}\n", counts[i], 100 * share, title_of(workload));
  }
  if (!suite.empty())
    fmt::print(output(), "\nwritten to {}; next: {}\n", arguments.output,
               spoken_command(with_same_place({"tune", suite}, common, "", 0)));
  return kDone;
}

}  // namespace tunesmith::cli
