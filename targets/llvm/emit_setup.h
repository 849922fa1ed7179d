// Emits UnitSetup into the kernel's own object: prepares any process that loads the kernel, and its threads,
// for the instructions that the kernel uses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "function_emitter.h"
#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

/// The distinct units of the program and its preparation that have a set-up.
std::vector<UnitSetup> units_of(const LoweredProgram& lowered);

/// The result of emit_setup() for `units`; nothing if there are none.
std::optional<SetupStep> setup_step(const std::vector<UnitSetup>& units, const std::string& symbol);

/// Adds the entry points of the step, and makes each function in `callers` that uses
/// an instruction of one of `units` begin with its thread's set-up. Throws EmitError.
void emit_setup(llvm::Module& module, const std::vector<UnitSetup>& units, const std::string& symbol,
                const UnitCallers& callers);

/// Describes the result of a tunesmith_setup.
std::string setup_failure(const SetupStep& step, int64_t answer);

}  // namespace tunesmith::llvm_target
