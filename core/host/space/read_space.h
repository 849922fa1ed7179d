// What the YAML of one space says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith {

/// Mistakes in a text, in the order in which they are met.
class Faults {
 public:
  explicit Faults(std::vector<UserError>& list) : list_(list) {}

  /// Does `step`, and keeps what it throws. Was there nothing?
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
  /// refuse_unknown_keys(), of each key.
  void unknown_keys(const YamlNode& node, const std::vector<std::string>& known, std::string_view what);
  size_t count() const { return list_.size(); }

 private:
  std::vector<UserError>& list_;
};

/// Throws UserError at `node` where it is of another kind; `what` names it.
void expect_kind(const YamlNode& node, YamlNode::Kind kind, const std::string& what);
const std::string& text_of(const YamlNode& node, const std::string& what);
int64_t integer_of(const YamlNode& node, const std::string& what);

void refuse_unknown_space_keys(const YamlNode& node, Faults& faults);

/// Reads all known keys of the mapping `entry.value` but `extends` into `spec`, which has what it extends.
void read_space(const YamlEntry& entry, SpaceSpec& spec, Faults& faults);

}  // namespace tunesmith
