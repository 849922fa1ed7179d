#include "tunesmith/target/target.h"

namespace tunesmith {

// Key functions: one type identity for all libraries.
LoadedKernel::~LoadedKernel() = default;
Target::~Target() = default;
TargetExtension::~TargetExtension() = default;

bool Target::has_feature(std::string_view /*name*/) const { return false; }

}  // namespace tunesmith
