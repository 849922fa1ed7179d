// Definitions of workloads as syntax trees, without values for their parameters: the parser builds them from
// files, networks from the statements of their operators.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/syntax.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// `name: expression`, from `params` or `let`.
struct NamedValue {
  std::string name;
  Place place;
  SyntaxPtr value;
};

/// A condition on the parameters, from `require`, with its text.
struct Requirement {
  std::string text;
  Place place;
  SyntaxPtr condition;
};

struct InputSyntax {
  std::string name;
  Place place;
  Place shape_place;
  std::vector<SyntaxPtr> shape;
  SyntaxPtr dtype;
  SyntaxPtr constant;  // null if the key is absent
};

struct OutputSyntax {
  std::string name;
  Place place;
};

/// The strides of an input or output, from `strides`.
struct StridesSyntax {
  Place place;
  std::vector<SyntaxPtr> strides;
};

struct Definition {
  std::string file;
  std::string text;  // the whole file
  std::string name;
  std::string description;
  std::string op;  // the network operator that it defines; "" if none
  std::vector<NamedValue> params;
  std::vector<NamedValue> lets;
  std::vector<Requirement> requirements;
  std::vector<InputSyntax> inputs;
  std::vector<StatementSyntax> statements;
  std::vector<OutputSyntax> outputs;
  std::map<std::string, StridesSyntax> strides;  // by the array's name
};

/// Reads the top-level mapping of a workload's file. Throws UserError.
Definition read_definition(const YamlNode& root);

std::vector<SyntaxPtr> integer_leaves(std::span<const int64_t> values);
/// The input that has the buffer's name, shape, type and `constant`.
InputSyntax input_syntax(const BufferNode& buffer);

/// The text of a definition without description, operator, lets and requirements. An integer is printed as
/// its leaf's `name`.
std::string to_text(const Definition& definition);

/// WorkloadDefinition::instantiate(). Throws UserError.
Workload instantiate(const Definition& definition, const std::vector<ParamText>& given);

}  // namespace tunesmith::workload
#pragma GCC visibility pop
