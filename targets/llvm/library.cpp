#include "llvm_target.h"

namespace tunesmith::llvm_target {

LibraryFiles LlvmTarget::build_library(const LibraryRequest&) {
  throw EnvironmentError("the llvm target does not build libraries yet");
}

}  // namespace tunesmith::llvm_target
