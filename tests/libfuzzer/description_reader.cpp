// Any text describes a network's library, or is refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/network/library_description.h>
#include <tunesmith/support/error.h>

#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    network::read_description(test::scratch_file(text, "network.json").parent_path()).facts();
  } catch (const UserError& error) {
    if (std::string(error.what()).empty()) throw InternalError("refused without a reason");
  }
  return 0;
}
