// A parsed workload file, without values for its parameters.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/syntax.h"

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

}  // namespace tunesmith::workload
