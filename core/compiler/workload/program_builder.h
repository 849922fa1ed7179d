// From a definition and values for its parameters to a program.
#pragma once

#include "tunesmith/workload/workload.h"
#include "workload/definition.h"
#include "workload/evaluator.h"

namespace tunesmith::workload {

/// `names` holds every parameter and every `let` of the definition. Throws UserError.
Program build_program(const Definition& definition, const Environment& names,
                      std::vector<ExtentParameter> parameters);

/// WorkloadDefinition::instantiate().
Workload instantiate(const Definition& definition, const std::vector<ParamText>& given);

}  // namespace tunesmith::workload
