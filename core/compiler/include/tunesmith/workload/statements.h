// Statements of the workload language as syntax trees, from which workloads can be built and printed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/syntax.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// Parses the text of `compute:` in a workload's file. `file` is named in errors. Throws UserError.
std::vector<StatementSyntax> parse_statements(std::string_view text, const std::string& file);

/// The parts of a workload without parameters. Its statements read `inputs` and the results of earlier
/// statements.
struct Parts {
  std::string name;
  std::vector<Buffer> inputs;
  std::vector<StatementSyntax> statements;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<int64_t>> strides;  ///< of inputs and outputs with gaps
};

/// Builds the workload. WorkloadDefinition::parse() of its text gives the same workload. `file` is named in
/// errors. Throws UserError.
Workload make_workload(Parts parts, const std::string& file);

}  // namespace tunesmith::workload
#pragma GCC visibility pop
