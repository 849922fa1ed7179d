// The one reader of YAML in the kernel: strict, limited in size, and exact about places.
//
// What YAML allows and this refuses, because each has hidden a mistake in somebody's file: a key given twice,
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

/// A plain value; owns everything below it.
struct YamlNode {
  enum class Kind : uint8_t { Null, Scalar, Sequence, Map };

  Kind kind = Kind::Null;
  /// Where the value begins; of a Null, where its key stands.
  SourceLocation location;
  std::string text;                // of a Scalar
  bool quoted = false;             // in quotes or a block scalar, hence text even when it looks like a number
  std::vector<YamlNode> items;     // of a Sequence
  std::vector<YamlEntry> entries;  // of a Map, in the order of the file

  /// Where in the file text[offset] stands, also in block scalars and in scalars folded over several lines.
  SourceLocation at(size_t offset) const;
  /// The value of `key`, or null.
  const YamlNode* find(std::string_view key) const;

  struct Segment {
    size_t offset;
    int line;
    int column;
  };
  std::vector<Segment> segments;  // where the text's parts stand; at() reads it
};

struct YamlEntry {
  std::string key;
  SourceLocation location;  // of the key
  YamlNode value;
};

/// "nothing", "a value", "a list", "a mapping".
std::string_view yaml_kind_name(YamlNode::Kind kind);

/// Parses the only document of `text`; `file` is named in errors. Throws UserError.
/// Limits: 1 MiB of text, 32 levels of nesting, 4096 items of a list or keys of a mapping.
YamlNode parse_yaml(std::string_view text, const std::string& file);

/// A file's text, up to one byte more than parse_yaml accepts. Throws UserError when there is none or it
/// cannot be read: at `named_at`, the place in another file that names it, where there is one.
std::string read_yaml_text(const std::string& path, const SourceLocation& named_at = {});

/// Reads and parses a file. Throws UserError as the two do.
YamlNode read_yaml_file(const std::string& path, const SourceLocation& named_at = {});

/// Throws UserError at the first entry of the map `node` whose key is not in `known`. `what` names the map:
/// "a workload".
void refuse_unknown_keys(const YamlNode& node, const std::vector<std::string>& known, std::string_view what);
/// The same of one entry.
void refuse_unknown_key(const YamlEntry& entry, const std::vector<std::string>& known, std::string_view what);

}  // namespace tunesmith
#pragma GCC visibility pop
