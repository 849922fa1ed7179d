#include "tunesmith/support/version.h"

namespace tunesmith {

std::string_view kernel_version() { return TUNESMITH_VERSION; }

#ifdef __clang__
std::string_view kernel_compiler() { return "clang " __clang_version__; }
#else
std::string_view kernel_compiler() { return "GCC " __VERSION__; }
#endif

}  // namespace tunesmith
