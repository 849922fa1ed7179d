// Any text is a workload whose program is well formed, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tunesmith/analysis/verify.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/support/error.h>
#include <tunesmith/workload/workload.h>

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto definition =
        WorkloadDefinition::parse({reinterpret_cast<const char*>(data), size}, "workload.yaml");
    const Workload workload = definition.instantiate();
    if (to_string(workload.program).empty()) throw InternalError("the program prints as nothing");
    const std::string wrong = verify(workload.program);
    if (!wrong.empty()) throw InternalError(wrong);
  } catch (const UserError& error) {
    if (error.location().line <= 0 || error.location().column <= 0)
      throw InternalError(std::string("refused, but not at a place: ") + error.what());
  }
  return 0;
}
