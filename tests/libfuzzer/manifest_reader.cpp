// Any text is a pack's manifest, or a lock file, or is refused and names the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/support/error.h>

#include "plugin/lock.h"
#include "plugin/manifest.h"
#include "scratch_file.h"

using namespace tunesmith;

namespace {

template <typename Read>
void read_as(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    if (std::string(error.what()).empty()) throw InternalError("refused without a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_as([&] { parse_manifest(text, "acme.pack.json"); });
  read_as([&] { read_plugin_lock(test::scratch_file(text)); });
  return 0;
}
