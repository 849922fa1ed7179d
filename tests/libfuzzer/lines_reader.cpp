// Any text is a line of the schema that reads the same when it is written again, or is refused with a reason:
// also when its checksum is made right.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/measuring/job.h>
#include <tunesmith/measuring/turns.h>
#include <tunesmith/support/error.h>

#include "read_or_refuse.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/line.h"

using namespace tunesmith;

namespace {

template <typename Read>
void read_as(const std::string& line, Read read) {
  test::read_or_refuse([&] {
    const auto value = read(line);
    if (read(line_of(value)) != value) throw InternalError("read, and another when it is written again");
  });
}

template <typename Parse>
void read_text_as(const std::string& text, Parse parse) {
  test::read_or_refuse([&] {
    const auto value = parse(text);
    if (parse(text_of(value)) != value) throw InternalError("read, and another when it is written again");
  });
}

void read_line_as_all(const std::string& line) {
  read_as(line, parse_job);
  read_as(line, parse_candidate);
  read_text_as(line, parse_turns);
  read_text_as(line, parse_worker);
  test::read_or_refuse([&] {
    if (text_of(parse_answer(line)).empty()) throw InternalError("an answer without a text");
  });
  try {
    parse_line(line);
  } catch (const UserError&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_line_as_all(text);
  auto object = parse_object(text);
  if (!object || !object->contains("checksum")) return 0;
  for (const char* kind : {"environment", "workload", "space", "run", "roof", "record", "candidate", "job",
                           "turns", "times", "refusal", "worker"}) {
    if (!object->contains(kind)) continue;
    (*object)["checksum"] = json_checksum(canonical_text((*object)[kind]));
    read_line_as_all(canonical_text(*object));
    break;
  }
  return 0;
}
