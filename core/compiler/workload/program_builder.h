// Builds programs from definitions and values of their parameters.
#pragma once

#include "tunesmith/workload/definition.h"
#include "workload/evaluator.h"

namespace tunesmith::workload {

/// `names` contains every parameter and `let` of the definition. Throws UserError.
Program build_program(const Definition& definition, const Environment& names,
                      std::vector<ExtentParameter> parameters);

}  // namespace tunesmith::workload
