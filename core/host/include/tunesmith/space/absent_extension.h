// Extensions that are missing from a space.
#pragma once

#include <string>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// An optional extension (`"acme_npu?"`) that no pack contains.
struct AbsentExtension {
  std::string name;
  SourceLocation location;  // of its name in the spaces file
  std::string nearest;      // a similarly named extension, or ""

  /// "spaces.yaml:7:47: there is no extension 'acme_nup'; did you mean 'acme_npu'?". One line.
  std::string str() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
