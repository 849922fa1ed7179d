// Any text is a map of indices that can be printed, or is refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tunesmith/analysis/schedule_error.h>

#include "primitives/shared/index_map_parser.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const IndexMap map = parse_index_map({reinterpret_cast<const char*>(data), size}, "transform_layout");
    if (map.params.empty()) throw InternalError("a map of nothing");
  } catch (const ScheduleError& error) {
    if (*error.what() == '\0') throw InternalError("refused without a reason");
  }
  return 0;
}
