// The message about an extension's file.
#pragma once

#include <string>

#include "tunesmith/support/error.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {

/// Why the text is refused, or "accepted".
inline std::string complaint(const std::string& text) {
  try {
    ExtensionFile::parse(text, "test.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace tunesmith
