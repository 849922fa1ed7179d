// From a definition and values for its parameters to a program.
#pragma once

#include "tunesmith/ir/program.h"
#include "workload/definition.h"
#include "workload/evaluator.h"

namespace tunesmith::workload {

/// `names` holds every parameter and every `let` of the definition. Throws UserError.
Program build_program(const Definition& definition, const Environment& names);

}  // namespace tunesmith::workload
