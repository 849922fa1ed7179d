#include "tunesmith/workload/workload.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/ir/extents.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/definition.h"
#include "workload/parameters.h"
#include "workload/program_builder.h"

namespace tunesmith {

std::string WorkloadParam::value_text() const {
  if (const auto* type = std::get_if<DType>(&value)) return type->str();
  if (const auto* range = std::get_if<ParamRange>(&value)) {
    const std::string typical = range->typical.empty() ? "" : ":typical=";
    return fmt::format("{}..{}{}{}", range->lowest, range->highest, typical, fmt::join(range->typical, ","));
  }
  return fmt::format("{}", std::get<int64_t>(value));
}

namespace {

/// The work of a program for ranges: geometric means over its typical values.
void take_typical_work(Workload& workload) {
  double flops = 0.0;
  double bytes = 0.0;
  const std::vector<std::vector<int64_t>> typical = typical_values(workload.program);
  for (const std::vector<int64_t>& values : typical) {
    const Workload fixed = at_values(workload, values);
    flops += std::log(fixed.flops);
    bytes += std::log(fixed.bytes_min);
  }
  const auto count = static_cast<double>(typical.size());
  workload.flops = workload.flops > 0.0 ? std::exp(flops / count) : 0.0;
  workload.bytes_min = std::exp(bytes / count);
}

}  // namespace

WorkloadDefinition::WorkloadDefinition(std::shared_ptr<const workload::Definition> definition)
    : definition_(std::move(definition)) {}

WorkloadDefinition WorkloadDefinition::parse(std::string_view yaml, const std::string& file) {
  workload::Definition definition = workload::read_definition(parse_yaml(yaml, file));
  definition.text = yaml;
  return WorkloadDefinition(std::make_shared<const workload::Definition>(std::move(definition)));
}

WorkloadDefinition WorkloadDefinition::read(const std::string& path) {
  return parse(read_yaml_text(path), path);
}

const std::string& WorkloadDefinition::name() const { return definition_->name; }
const std::string& WorkloadDefinition::description() const { return definition_->description; }
const std::string& WorkloadDefinition::op() const { return definition_->op; }
const std::string& WorkloadDefinition::file() const { return definition_->file; }
const std::string& WorkloadDefinition::text() const { return definition_->text; }

std::vector<WorkloadParam> WorkloadDefinition::params() const {
  return workload::resolve_parameters(*definition_, {}).values;
}

Workload WorkloadDefinition::instantiate(const std::vector<ParamText>& given) const {
  return workload::instantiate(*definition_, given);
}

Workload workload::instantiate(const Definition& definition, const std::vector<ParamText>& given) {
  Parameters parameters = resolve_parameters(definition, given);
  Workload made;
  made.program = build_program(definition, parameters.names, std::move(parameters.varying));
  made.name = definition.name;
  made.params = std::move(parameters.values);
  made.key = std::move(parameters.key);
  made.definition = definition.text;
  made.hash = structural_hash(made.program);
  made.flops = count_flops(made.program);
  for (const auto* list : {&made.program.inputs, &made.program.outputs}) {
    for (const Buffer& buffer : *list)
      made.bytes_min += static_cast<double>(buffer->elements() * buffer->dtype.bytes());
  }
  if (!made.program.parameters.empty()) take_typical_work(made);
  return made;
}

Workload at_values(const Workload& workload, std::span<const int64_t> values) {
  if (workload.definition.empty())
    throw UserError(
        fmt::format("{} is a program for ranges of extents without a text that gives those for one value",
                    workload.name),
        "give each parameter one value");
  std::vector<ParamText> fixed;
  size_t next = 0;
  for (const WorkloadParam& param : workload.params) {
    const bool varies = std::holds_alternative<ParamRange>(param.value);
    check_invariant(!varies || next < values.size(), "one value for each parameter");
    fixed.emplace_back(param.name, varies ? std::to_string(values[next++]) : param.value_text());
  }
  return WorkloadDefinition::parse(workload.definition, workload.name).instantiate(fixed);
}

Program program_of_definition(const YamlNode& definition) {
  const workload::Definition read = workload::read_definition(definition);
  workload::Parameters parameters = workload::resolve_parameters(read, {});
  return workload::build_program(read, parameters.names, std::move(parameters.varying));
}

}  // namespace tunesmith
