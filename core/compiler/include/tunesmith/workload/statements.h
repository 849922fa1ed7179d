// Statements of the workload language as trees: parsed, changed by whoever joins some, and made into a
// workload whose text is printed from them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/syntax.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// What stands behind `compute` in a workload's file. `file` is named in errors. Throws UserError.
std::vector<StatementSyntax> parse_statements(std::string_view text, const std::string& file);

/// A workload without parameters. Its statements read `inputs` and what statements before them compute.
struct Parts {
  std::string name;
  std::vector<Buffer> inputs;
  std::vector<StatementSyntax> statements;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<int64_t>> strides;  ///< of inputs and outputs with gaps
};

/// The workload of these statements. WorkloadDefinition::parse() of its text gives the same workload. `file`
/// is named in errors. Throws UserError.
Workload make_workload(Parts parts, const std::string& file);

}  // namespace tunesmith::workload
#pragma GCC visibility pop
