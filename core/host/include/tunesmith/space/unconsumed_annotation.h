// Annotations of a space's modules that nothing consumes.
#pragma once

#include <string>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// An annotation that no later module of the space, lowering step or target consumes.
struct UnconsumedAnnotation {
  std::string key;
  std::string module;
  SourceLocation location;  // where the space names the module

  /// "s.yaml:6:15: nobody consumes the annotation 'unroll_steps' of module 'parallel_vectorize_unroll'".
  std::string str() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
