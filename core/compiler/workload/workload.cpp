#include "tunesmith/workload/workload.h"

#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/yaml.h"
#include "workload/definition.h"
#include "workload/parameters.h"
#include "workload/program_builder.h"

namespace tunesmith {

std::string WorkloadParam::value_text() const {
  if (const auto* type = std::get_if<DType>(&value)) return type->str();
  return fmt::format("{}", std::get<int64_t>(value));
}

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
  made.program = build_program(definition, parameters.names);
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
  return made;
}

Program program_of_definition(const YamlNode& definition) {
  const workload::Definition read = workload::read_definition(definition);
  return workload::build_program(read, workload::resolve_parameters(read, {}).names);
}

}  // namespace tunesmith
