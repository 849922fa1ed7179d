// Any text is an extension of a target, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/support/error.h>
#include <tunesmith/target/extension_file.h>

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto extension =
        ExtensionFile::parse(std::string(reinterpret_cast<const char*>(data), size), "unit.yaml");
    if (extension->name().empty()) throw InternalError("an extension without a name");
    extension->content_hash();
  } catch (const UserError& error) {
    if (error.location().line <= 0 || error.location().column <= 0)
      throw InternalError(std::string("refused, but not at a place: ") + error.what());
  }
  return 0;
}
