// Any text is programs that print and read back, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/support/error.h>

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    for (const Program& program : parse_programs({reinterpret_cast<const char*>(data), size})) {
      const std::string text = to_string(program);
      const Program again = parse_program(text);
      if (to_string(again) != text || structural_hash(again) != structural_hash(program))
        throw InternalError("the program reads back as another one");
    }
  } catch (const UserError& error) {
    if (error.location().line <= 0 || error.location().column <= 0)
      throw InternalError("refused, but not at a place");
  }
  return 0;
}
