// Any text is a trace that prints and reads back, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tunesmith/support/error.h>
#include <tunesmith/trace/trace.h>

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Trace trace = Trace::parse({reinterpret_cast<const char*>(data), size});
    const std::string text = trace.str();
    const Trace again = Trace::parse(text);
    if (again != trace || again.str() != text) throw InternalError("the trace reads back as another one");
    if (trace.simplified().size() > trace.size()) throw InternalError("simplified, the trace is longer");
    if (diff(trace, trace.with_open_decisions()).empty() && !trace.empty())
      throw InternalError("the difference of two traces is no text");
  } catch (const UserError& error) {
    if (error.location().line <= 0 || error.location().column <= 0)
      throw InternalError(std::string("refused, but not at a place: ") + error.what());
  }
  return 0;
}
