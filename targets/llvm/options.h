// The user's options of the target, checked.
#pragma once

#include <string>

#include "tunesmith/plugin/options.h"

namespace tunesmith::llvm_target {

struct TargetOptions {
  std::string mcpu = "native";
  SourceLocation mcpu_location;
  /// 0: the widest the processor has.
  int64_t vector_bits = 0;
  SourceLocation vector_bits_location;
  bool contract = true;
  bool reassociate = false;
  bool reciprocal = true;
  /// "less", "default" or "aggressive".
  std::string codegen = "less";
  bool verify = false;

  static std::vector<OptionSpec> specs();
  static TargetOptions from(const Options& options);
};

}  // namespace tunesmith::llvm_target
