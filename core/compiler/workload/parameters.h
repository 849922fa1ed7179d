// Resolves the parameters of a definition to values.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/workload/definition.h"
#include "workload/evaluator.h"

namespace tunesmith::workload {

struct Parameters {
  Environment names;  // parameters and `let`s
  std::vector<WorkloadParam> values;
  std::string key;
  std::vector<ExtentParameter> varying;
};

/// Throws UserError.
Parameters resolve_parameters(const Definition& definition, const std::vector<ParamText>& given);

}  // namespace tunesmith::workload
