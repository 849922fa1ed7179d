// Any bytes are a library whose note and dependencies can be read, or say what is damaged.
#include <cstddef>
#include <cstdint>
#include <span>

#include <tunesmith/support/error.h>

#include "plugin/elf_file.h"
#include "plugin/elf_note.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  if (const auto note = read_plugin_note(bytes); !note && note.error().empty())
    throw InternalError("no note, and no reason");
  if (const auto file = parse_elf_file(bytes)) {
    if (const auto needs = read_dependencies(*file); !needs && needs.error().empty())
      throw InternalError("no dependencies, and no reason");
  }
  return 0;
}
