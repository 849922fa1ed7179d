// Helpers for tests that read assembly.
#pragma once

#include <cstddef>
#include <string>

namespace tunesmith::testing {

inline size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// The innermost loop around the first `instruction`: from the label before it to the jump back there.
inline std::string loop_around(const std::string& assembly, const std::string& instruction) {
  const size_t at = assembly.find(instruction);
  const size_t label = assembly.rfind("\n.LBB", at) + 1;
  const std::string name = assembly.substr(label, assembly.find(':', label) - label);
  return assembly.substr(label, assembly.find("\t" + name, at) - label);
}

}  // namespace tunesmith::testing
