// What leaves a process as a line of JSONL: a record and what it refers to, a candidate, a job. A line stands
// alone: lines may be sorted, filtered and concatenated.
//   {"checksum": "..", "record": {..}, "version": 5}
// and the same with another kind's name. The checksum is of the canonical text of the object beside it: it
// finds damage, and proves no origin.
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
  int version = 0;         // that it was written in: at most kSchemaVersion
};

/// One line, without its end. `kind` must be one of the schema; `content` is canonical text of an object.
std::string line_text(std::string_view kind, std::string_view content);
/// Throws UserError saying why it is no line of the schema: too large, damaged, newer, of no kind that is
/// known.
Line parse_line_text(std::string_view text);

/// The next line without its end, however it ends; false when there is none. Takes no more memory than a line
/// may: of a longer one as much is read as parse_line_text() refuses, and the rest is passed over.
bool read_line(std::istream& in, std::string& line);

}  // namespace tunesmith
#pragma GCC visibility pop
