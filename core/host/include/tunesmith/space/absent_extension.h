// What a space does without.
#pragma once

#include <string>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// An extension that a space takes where it is (`"acme_npu?"`), and that no pack has.
struct AbsentExtension {
  std::string name;
  SourceLocation location;  // of its name in the spaces file
  std::string nearest;      // the extension that may be meant, or ""

  /// "spaces.yaml:7:47: there is no extension 'acme_nup'; did you mean 'acme_npu'?". One line.
  std::string str() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
