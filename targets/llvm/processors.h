// The processors that LLVM knows by name, of this machine's architecture and of AArch64.
#pragma once

#include <set>
#include <string>

#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

struct Processor {
  std::string triple;
  /// LLVM's names of all that it has.
  std::set<std::string, std::less<>> features;
};

/// Throws UserError, with the nearest name, when LLVM knows no processor of that name.
Processor find_processor(const std::string& name, const SourceLocation& location);

}  // namespace tunesmith::llvm_target
