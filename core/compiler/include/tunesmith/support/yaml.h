// The kernel's YAML reader: strict, limited in size, with exact locations.
//
// It refuses YAML features that have hidden mistakes in files: duplicate keys,
// a second document, anchors and aliases, tags, keys that are not plain text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct YamlEntry;

/// A value; owns everything below it.
struct YamlNode {
  enum class Kind : uint8_t { Null, Scalar, Sequence, Map };

  Kind kind = Kind::Null;
  /// Where the value begins; for a Null, where its key is.
  SourceLocation location;
  std::string text;                // for a Scalar
  bool quoted = false;             // in quotes or a block scalar: text even if it looks like a number
  std::vector<YamlNode> items;     // for a Sequence
  std::vector<YamlEntry> entries;  // for a Map, in file order

  /// The location of text[offset] in the file, also in block scalars and folded scalars.
  SourceLocation at(size_t offset) const;
  /// The value of `key`, or null.
  const YamlNode* find(std::string_view key) const;

  struct Segment {
    size_t offset;
    int line;
    int column;
  };
  std::vector<Segment> segments;  // the locations of parts of the text, for at()
};

struct YamlEntry {
  std::string key;
  SourceLocation location;  // of the key
  YamlNode value;
};

/// "nothing", "a value", "a list", "a mapping".
std::string_view yaml_kind_name(YamlNode::Kind kind);

/// Parses `text`, which must be a single document; `file` is named in errors. Throws UserError.
/// Limits: 1 MiB of text, 32 levels of nesting, 4096 items of a list or keys of a mapping.
YamlNode parse_yaml(std::string_view text, const std::string& file);

/// Reads a file, up to one byte more than parse_yaml accepts. Throws UserError if it does not
/// exist or cannot be read, at `named_at` (the place in another file that names it) if given.
std::string read_yaml_text(const std::string& path, const SourceLocation& named_at = {});

/// Reads and parses a file. Throws UserError.
YamlNode read_yaml_file(const std::string& path, const SourceLocation& named_at = {});

/// Throws UserError at the first entry of the map `node` whose
/// key is not in `known`. `what` describes the map: "a workload".
void refuse_unknown_keys(const YamlNode& node, const std::vector<std::string>& known, std::string_view what);
/// The same for one entry.
void refuse_unknown_key(const YamlEntry& entry, const std::vector<std::string>& known, std::string_view what);

}  // namespace tunesmith
#pragma GCC visibility pop
