// Tracks the source location of inline assembly,
// for LLVM's errors long after it was read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <llvm/IR/Module.h>

namespace tunesmith::llvm_target {

/// Marks each piece of inline assembly in a module parsed from `text` with a cookie, and records the location
/// of each in the module: `place_of` gives that of a line of `text`, from 1. Linked modules keep both.
void mark_assembly(llvm::Module& module, const std::string& text,
                   const std::function<std::string(int line)>& place_of);

/// The location of a cookie; "" if there is none.
std::string assembly_place(const llvm::Module& module, uint64_t cookie);

}  // namespace tunesmith::llvm_target
