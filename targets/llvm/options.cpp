#include "options.h"

namespace tunesmith::llvm_target {

std::vector<OptionSpec> TargetOptions::specs() {
  return {
      OptionSpec::string("mcpu", "native", "processor to compile for: 'native', or a name known to LLVM"),
      OptionSpec::integer("vector_bits", 0, 0, 2048, "vector width in bits; 0: the processor's widest"),
      OptionSpec::boolean("contract", true, "contract multiply-adds into FMA, rounded once"),
      OptionSpec::boolean("reassociate", false,
                          "let the compiler reassociate floating-point sums and products"),
      OptionSpec::boolean(
          "reciprocal", true,
          "replace division of vectors by a scalar with multiplication by its reciprocal: one more rounding"),
      OptionSpec::choice(
          "codegen", "less", {"less", "default", "aggressive"},
          "optimisation level of LLVM's code generator; above 'less' compiles slower without measured gain"),
      OptionSpec::boolean("verify", false, "verify the generated LLVM IR before compiling it"),
  };
}

TargetOptions TargetOptions::from(const Options& options) {
  TargetOptions result;
  result.mcpu = options.get_string("mcpu");
  result.mcpu_location = options.location("mcpu");
  result.vector_bits = options.get_int("vector_bits");
  result.vector_bits_location = options.location("vector_bits");
  if (result.vector_bits != 0 &&
      (result.vector_bits < 64 || (result.vector_bits & (result.vector_bits - 1)) != 0)) {
    options.fail("vector_bits", "expected 0 or a power of two of at least 64");
  }
  result.contract = options.get_bool("contract");
  result.reassociate = options.get_bool("reassociate");
  result.reciprocal = options.get_bool("reciprocal");
  result.codegen = options.get_string("codegen");
  result.verify = options.get_bool("verify");
  return result;
}

}  // namespace tunesmith::llvm_target
