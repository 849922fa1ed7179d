// Where inline assembly stands in the file that it came from, for what LLVM says of it long after it was
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <llvm/IR/Module.h>

namespace tunesmith::llvm_target {

/// Gives each piece of inline assembly in a module that `text` was parsed to a cookie, and the module the
/// place that it stands for: `place_of` a line of `text`, from 1. Modules that are linked keep both.
void mark_assembly(llvm::Module& module, const std::string& text,
                   const std::function<std::string(int line)>& place_of);

/// The place that a cookie stands for; "" when there is none.
std::string assembly_place(const llvm::Module& module, uint64_t cookie);

}  // namespace tunesmith::llvm_target
