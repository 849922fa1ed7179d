// Any text is a file of spaces, each of which is there, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/space/spaces_file.h>
#include <tunesmith/support/error.h>

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const SpacesFile file =
        SpacesFile::parse(std::string(reinterpret_cast<const char*>(data), size), "spaces.yaml");
    for (const std::string& name : file.names()) {
      if (file.space(name).name != name) throw InternalError("a space has another name than it was given");
    }
    file.space("");
  } catch (const UserError& error) {
    if (error.location().line <= 0 || error.location().column <= 0)
      throw InternalError(std::string("refused, but not at a place: ") + error.what());
  }
  return 0;
}
