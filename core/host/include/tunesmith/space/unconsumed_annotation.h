// Annotations that a space's modules make for nobody.
#pragma once

#include <string>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A hint that nothing after its module carries out: no module of the space, step of lowering or target.
struct UnconsumedAnnotation {
  std::string key;
  std::string module;
  SourceLocation location;  // where the space names the module

  /// "s.yaml:6:15: nobody consumes the annotation 'unroll_steps' of module 'parallel_vectorize_unroll'".
  std::string str() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
