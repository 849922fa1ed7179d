// Reads the YAML of one space.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith {

/// Errors in a text, in the order found.
class Faults {
 public:
  explicit Faults(std::vector<UserError>& list) : list_(list) {}

  /// Runs `step` and records its exception. True if there was none.
  template <typename Step>
  bool attempt(const Step& step) {
    try {
      step();
      return true;
    } catch (const UserError& error) {
      list_.push_back(error);
      return false;
    }
  }
  /// refuse_unknown_keys() for each key.
  void unknown_keys(const YamlNode& node, const std::vector<std::string>& known, std::string_view what);
  size_t count() const { return list_.size(); }

 private:
  std::vector<UserError>& list_;
};

/// Throws UserError at `node` if it has another kind; `what` describes it.
void expect_kind(const YamlNode& node, YamlNode::Kind kind, const std::string& what);
const std::string& text_of(const YamlNode& node, const std::string& what);
int64_t integer_of(const YamlNode& node, const std::string& what);

void refuse_unknown_space_keys(const YamlNode& node, Faults& faults);

/// Reads all keys of the mapping `entry.value` but `extends` into `spec`, a copy of the extended space.
void read_space(const YamlEntry& entry, SpaceSpec& spec, Faults& faults);

}  // namespace tunesmith
