#include "tunesmith/network/library_description.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tunesmith/performance/computed_type.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "the library of a network";

bool describes_library(const nlohmann::json& value) {
  const auto kind = value.is_object() ? value.find("kind") : value.end();
  return kind != value.end() && *kind == kKind;
}

/// The files in the folder that describe a library.
std::vector<std::pair<fs::path, nlohmann::json>> descriptions_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    if (each->path().extension() == ".json") paths.push_back(each->path());
  if (error) throw UserError(SourceLocation{folder.string()}, error.message());
  std::ranges::sort(paths);
  std::vector<std::pair<fs::path, nlohmann::json>> found;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    nlohmann::json value = nlohmann::json::parse(file, nullptr, false);
    if (describes_library(value)) found.emplace_back(path, std::move(value));
  }
  return found;
}

nlohmann::json form_json(const ShapeForm& form) {
  nlohmann::json list = nlohmann::json::array();
  for (const ExtentForm& extent : form)
    list.push_back({{"constant", extent.constant}, {"factors", extent.factors}});
  return list;
}

nlohmann::json varying_json(const std::vector<VaryingExtent>& varying) {
  nlohmann::json list = nlohmann::json::array();
  for (const VaryingExtent& extent : varying)
    list.push_back({{"name", extent.name},
                    {"parameter", extent.parameter},
                    {"lowest", extent.range.lowest},
                    {"highest", extent.range.highest},
                    {"typical", extent.range.typical}});
  return list;
}

std::vector<VaryingExtent> read_varying(const nlohmann::json& list) {
  std::vector<VaryingExtent> varying;
  for (const nlohmann::json& each : list)
    varying.push_back(
        {each.at("name"), each.at("parameter"), {each.at("lowest"), each.at("highest"), each.at("typical")}});
  return varying;
}

nlohmann::json arguments_json(const std::vector<LibraryArgument>& arguments) {
  nlohmann::json list = nlohmann::json::array();
  for (const LibraryArgument& argument : arguments)
    list.push_back({{"name", argument.name},
                    {"type", argument.type.dtype.str()},
                    {"shape", argument.type.shape},
                    {"form", form_json(argument.form)}});
  return list;
}

std::vector<LibraryArgument> read_arguments(const nlohmann::json& list) {
  std::vector<LibraryArgument> arguments;
  for (const nlohmann::json& each : list) {
    const std::string type = each.at("type");
    const std::optional<DType> parsed = DType::parse(type);
    if (!parsed) throw UserError(fmt::format("'{}' is no type", type));
    LibraryArgument argument{each.at("name"), {*parsed, each.at("shape")}};
    for (const nlohmann::json& extent : each.value("form", nlohmann::json::array()))
      argument.form.push_back({extent.at("constant"), extent.at("factors")});
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

nlohmann::json counted_json(const std::vector<CountedOutput>& counted) {
  nlohmann::json list = nlohmann::json::array();
  for (const CountedOutput& each : counted)
    list.push_back({{"output", each.output}, {"axis", each.axis}, {"by", each.by}});
  return list;
}

/// Refuses counts that the outputs do not have: callers trust them.
std::vector<CountedOutput> read_counted(const nlohmann::json& list,
                                        const std::vector<LibraryArgument>& outputs) {
  std::vector<CountedOutput> counted;
  for (const nlohmann::json& value : list) {
    const CountedOutput& each =
        counted.emplace_back(CountedOutput{value.at("output"), value.at("axis"), value.at("by")});
    if (each.output >= outputs.size() || each.by >= outputs.size() ||
        each.axis >= outputs[each.output].type.shape.size() || outputs[each.by].type.dtype != kI64 ||
        element_count(outputs[each.by].type.shape) != 1)
      throw UserError("a count is of no output, or no output is it");
  }
  return counted;
}

std::vector<std::string> operators_of(const TaskedNetwork& tasked, size_t region) {
  std::vector<std::string> operators;
  for (const size_t node : tasked.nodes[region]) operators.push_back(tasked.network.nodes[node].op);
  return operators;
}

/// For each region the regions whose results it reads.
std::vector<std::vector<size_t>> reads_of(const TaskedNetwork& tasked) {
  const auto part_of = [&](TensorIndex tensor) -> const std::optional<Part>& {
    return tasked.network.tensor(tensor).part;
  };
  std::map<TensorIndex, std::set<size_t>> writers;
  std::vector<std::vector<size_t>> reads;
  for (size_t region = 0; region < tasked.regions.size(); ++region) {
    std::set<size_t> sources;
    for (const TensorIndex input : tasked.regions[region].inputs) {
      auto found = writers.find(input);
      if (found == writers.end() && part_of(input)) found = writers.find(part_of(input)->whole);
      if (found != writers.end()) sources.insert(found->second.begin(), found->second.end());
    }
    reads.emplace_back(sources.begin(), sources.end());
    for (const TensorIndex output : tasked.regions[region].outputs) {
      writers[output].insert(region);
      if (part_of(output)) writers[part_of(output)->whole].insert(region);
    }
  }
  return reads;
}

double constant_bytes(const NodeWorkload& region) {
  double bytes = 0;
  for (const Buffer& input : region.workload.program.inputs) {
    if (input->constant) bytes += static_cast<double>(input->bytes());
  }
  return bytes;
}

}  // namespace

LibraryFacts LibraryDescription::facts() const {
  LibraryFacts facts{name, inputs, outputs, varying, {}};
  for (const Step& step : steps) facts.steps.push_back(step.facts);
  return facts;
}

LibraryDescription describe_library(const TaskedNetwork& tasked, const LibrarySource& source,
                                    const LibraryPlan& plan) {
  std::vector<std::string> operators;
  for (const std::string& path : source.operators) operators.push_back(fs::absolute(path).string());
  LibraryDescription description{plan.name,
                                 fs::absolute(source.file).string(),
                                 source.dimensions,
                                 std::move(operators),
                                 network_hash(tasked),
                                 plan.inputs,
                                 plan.outputs,
                                 plan.counted,
                                 plan.varying,
                                 {}};
  const LibraryFacts facts = facts_of(plan);
  std::vector<std::vector<size_t>> reads = reads_of(tasked);
  for (size_t i = 0; i < facts.steps.size(); ++i) {
    const auto trips = static_cast<double>(trips_of(tasked, i));
    const double constant = constant_bytes(tasked.regions[i]);
    description.steps.push_back({facts.steps[i], trips * tasked.regions[i].workload.flops,
                                 constant + trips * (tasked.regions[i].workload.bytes_min - constant),
                                 constant, computed_type(tasked.regions[i].workload.program).str(),
                                 operators_of(tasked, i), std::move(reads[i])});
  }
  return description;
}

std::string write_description(const LibraryDescription& description, const fs::path& folder) {
  nlohmann::json steps = nlohmann::json::array();
  for (const LibraryDescription::Step& step : description.steps)
    steps.push_back({{"buffers", step.facts.buffers},
                     {"unread", step.facts.unread},
                     {"flops", step.flops},
                     {"bytes_min", step.bytes_min},
                     {"constant_bytes", step.constant_bytes},
                     {"type", step.type},
                     {"operators", step.operators},
                     {"reads", step.reads}});
  const nlohmann::json value = {{"kind", kKind},
                                {"name", description.name},
                                {"file", description.file},
                                {"dimensions", description.dimensions},
                                {"operators", description.operators},
                                {"network", description.network},
                                {"inputs", arguments_json(description.inputs)},
                                {"outputs", arguments_json(description.outputs)},
                                {"counted", counted_json(description.counted)},
                                {"varying", varying_json(description.varying)},
                                {"steps", std::move(steps)}};
  const fs::path path = folder / (description.name + ".json");
  write_whole_file(path, value.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return path.string();
}

LibraryDescription read_description(const fs::path& folder) {
  const auto found = descriptions_in(folder);
  if (found.empty())
    throw UserError(SourceLocation{folder.string()}, "no network library found",
                    "build one: tunesmith network build FILE --output DIR");
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [path, value] : found) names.push_back(path.filename().string());
    throw UserError(SourceLocation{folder.string()},
                    fmt::format("several libraries found: {}", fmt::join(names, ", ")));
  }
  const auto& [path, value] = found.front();
  try {
    LibraryDescription description{value.at("name"),
                                   value.at("file"),
                                   value.at("dimensions"),
                                   value.value("operators", std::vector<std::string>()),
                                   value.at("network"),
                                   read_arguments(value.at("inputs")),
                                   read_arguments(value.at("outputs")),
                                   {},
                                   read_varying(value.value("varying", nlohmann::json::array())),
                                   {}};
    description.counted = read_counted(value.value("counted", nlohmann::json::array()), description.outputs);
    for (const nlohmann::json& step : value.at("steps"))
      description.steps.push_back({{step.at("buffers"), step.at("unread")},
                                   step.at("flops"),
                                   step.at("bytes_min"),
                                   step.value("constant_bytes", 0.0),
                                   step.value("type", "f32"),
                                   step.value("operators", std::vector<std::string>()),
                                   step.value("reads", std::vector<size_t>())});
    return description;
  } catch (const nlohmann::json::exception&) {
    throw UserError(SourceLocation{path.string()},
                    "not a library description, or of another version of Tunesmith",
                    "rebuild it: tunesmith network build FILE --output DIR");
  }
}

}  // namespace tunesmith::network
