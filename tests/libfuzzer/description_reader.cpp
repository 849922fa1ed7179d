// Any text describes a network's library, or is refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/network/library_description.h>

#include "read_or_refuse.h"
#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  test::read_or_refuse(
      [&] { network::read_description(test::scratch_file(text, "network.json").parent_path()).facts(); });
  return 0;
}
