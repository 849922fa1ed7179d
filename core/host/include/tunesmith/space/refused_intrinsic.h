// Instructions of an extension that a space does not offer.
#pragma once

#include <string>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A tensor intrinsic that the target's compiler refuses, or that crashes it (IntrinsicCompiler).
struct RefusedIntrinsic {
  std::string extension;
  std::string name;
  SourceLocation location;  // of its implementation, if it was read from a file
  std::string reason;

  /// "acme.yaml:12:7: extension 'acme': tensor intrinsic acme_dot cannot be compiled: REASON". One line.
  std::string str() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
