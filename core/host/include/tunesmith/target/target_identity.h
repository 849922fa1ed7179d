// The target of a task, as fields. Records store it as one text, which only this code reads and writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;

/// An extension that was available.
struct ExtensionIdentity {
  std::string name;
  std::string content;  // a hash of the file's content, or of the library and its options

  bool operator==(const ExtensionIdentity&) const = default;
};

/// Times are comparable if all fields are equal.
struct TargetIdentity {
  std::string target;     // Target::identity()
  std::string generator;  // Target::fingerprint(); "" in records before schema 3
  std::string lowering;   // kLoweringVersion; before schema 8 a hash, "" before schema 3
  std::string library;    // the hash of the target's library if it is not built in, else ""
  /// In the space's order; nothing if the record does not say, as before schema 6.
  std::optional<std::vector<ExtensionIdentity>> extensions = std::nullopt;

  /// Without library and extensions, which only the space knows.
  static TargetIdentity of(const Target& target);
  /// Parses str(). A text of another form becomes a target without other fields.
  static TargetIdentity parse(std::string_view text);
  /// One line: "acme_npu rows=4 generator=1 lowering=1 with=unit:2dd3109da77b0516". Spaces
  /// before a field name, and separators of extensions, are escaped as in URLs, `%20`.
  std::string str() const;

  bool operator==(const TargetIdentity&) const = default;
};

/// Do two texts of TargetIdentity differ at most in their extensions?
bool same_but_extensions(std::string_view one, std::string_view other);

}  // namespace tunesmith
#pragma GCC visibility pop
