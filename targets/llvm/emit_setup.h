// What makes a process and its threads ready for the instructions that a kernel calls: UnitSetup as code of
// the kernel's own object, so that it is done wherever that is loaded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "function_emitter.h"
#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

/// Those of the program and its preparation that have something to set up, each once.
std::vector<UnitSetup> units_of(const LoweredProgram& lowered);

/// What emit_setup() makes for `units`; nothing where there are none.
std::optional<SetupStep> setup_step(const std::vector<UnitSetup>& units, const std::string& symbol);

/// Adds the entry points of the step, and has each function among `callers` that calls an instruction of one
/// of `units` begin with setting up its thread. Throws EmitError.
void emit_setup(llvm::Module& module, const std::vector<UnitSetup>& units, const std::string& symbol,
                const UnitCallers& callers);

/// What `answer`, that of a tunesmith_setup, says.
std::string setup_failure(const SetupStep& step, int64_t answer);

}  // namespace tunesmith::llvm_target
