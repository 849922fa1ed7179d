// Any text is a pack's manifest, or a lock file, or is refused and names the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "plugin/lock.h"
#include "plugin/manifest.h"
#include "read_or_refuse.h"
#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  test::read_or_refuse([&] { parse_manifest(text, "acme.pack.json"); });
  test::read_or_refuse([&] { read_plugin_lock(test::scratch_file(text)); });
  return 0;
}
