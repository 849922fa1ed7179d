// Lines of JSONL that leave a process: records and the objects that they refer to, candidates, jobs. A line
// is self-contained: lines may be sorted, filtered and concatenated.
//   {"checksum": "..", "record": {..}, "version": 5}
// Other kinds have the same form. The checksum covers the canonical text of the object: it detects damage,
// but does not authenticate.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#pragma GCC visibility push(default)
namespace tunesmith {

struct Line {
  std::string kind;        // "record", "candidate", ...
  nlohmann::json content;  // the object
  int version = 0;         // the version in which it was written: at most kSchemaVersion
};

/// One line without the line end. `kind` must be in the schema; `content` is the canonical text of an object.
std::string line_text(std::string_view kind, std::string_view content);
/// Throws UserError if it is not a line of the schema: too large, damaged, of a newer version or an unknown
/// kind.
Line parse_line_text(std::string_view text);

/// Reads the next line without its end; false at the end of the input. Memory is limited: a
/// longer line is cut at a length that parse_line_text() refuses, and the rest is skipped.
bool read_line(std::istream& in, std::string& line);

}  // namespace tunesmith
#pragma GCC visibility pop
