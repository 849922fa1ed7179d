#include "options.h"

namespace tunesmith::llvm_target {

std::vector<OptionSpec> TargetOptions::specs() {
  return {
      OptionSpec::string("mcpu", "native", "processor to compile for: 'native', or a name that LLVM knows"),
      OptionSpec::integer("vector_bits", 0, 0, 2048, "width of vectors in bits; 0 is the processor's widest"),
      OptionSpec::boolean("contract", true, "a product and the sum it goes into may be rounded once (FMA)"),
      OptionSpec::boolean("reassociate", false, "the compiler may reorder sums and products of floats"),
      OptionSpec::boolean(
          "reciprocal", true,
          "lanes divided by one value may be multiplied with its reciprocal: one rounding more"),
      OptionSpec::choice(
          "codegen", "less", {"less", "default", "aggressive"},
          "effort of LLVM's code generator; more than 'less' compiles slower and gained nothing"),
      OptionSpec::boolean("verify", false, "check the generated LLVM IR before compiling it"),
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
