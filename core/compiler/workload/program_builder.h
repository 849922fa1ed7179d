// Builds programs from definitions and values of their parameters.
#pragma once

#include "tunesmith/workload/workload.h"
#include "workload/definition.h"
#include "workload/evaluator.h"

namespace tunesmith::workload {

/// `names` contains every parameter and `let` of the definition. Throws UserError.
Program build_program(const Definition& definition, const Environment& names,
                      std::vector<ExtentParameter> parameters);

/// WorkloadDefinition::instantiate().
Workload instantiate(const Definition& definition, const std::vector<ParamText>& given);

}  // namespace tunesmith::workload
