// What tasks are tuned for, as fields. Records keep it as one text, which is written and read here alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;

/// An extension that was there.
struct ExtensionIdentity {
  std::string name;
  std::string content;  // the hash of what its file says, or of its library and options

  bool operator==(const ExtensionIdentity&) const = default;
};

/// Times of programs are comparable where all fields are equal.
struct TargetIdentity {
  std::string target;     // Target::identity()
  std::string generator;  // Target::fingerprint(); "" in records before schema 3
  std::string lowering;   // kLoweringVersion; before schema 8 a hash, "" before schema 3
  std::string library;  // the hash of the target's library where that does not come with the kernel, else ""
  /// In the space's order; nothing where a record does not say it, as before schema 6.
  std::optional<std::vector<ExtensionIdentity>> extensions = std::nullopt;

  /// Without a library and extensions, which the space knows.
  static TargetIdentity of(const Target& target);
  /// str(), read. A text of another form is a target of its own, without other fields.
  static TargetIdentity parse(std::string_view text);
  /// One line: "acme_npu rows=4 generator=1 lowering=1 with=unit:2dd3109da77b0516". Spaces that would begin a
  /// field, and what separates extensions, are written as in URLs, `%20`.
  std::string str() const;

  bool operator==(const TargetIdentity&) const = default;
};

/// Of two texts of TargetIdentity: do they differ at most in their extensions?
bool same_but_extensions(std::string_view one, std::string_view other);

}  // namespace tunesmith
#pragma GCC visibility pop
