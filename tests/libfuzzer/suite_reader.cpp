// Any text is a list of workloads, or is refused at a place in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path =
      test::scratch_file(std::string(reinterpret_cast<const char*>(data), size), "suite.yaml").string();
  try {
    is_suite_file(path);
    for (const WorkloadSuite& suite : read_suite_file(path))
      if (suite.workloads.size() != suite.weights.size()) throw InternalError("a workload without a weight");
  } catch (const UserError& error) {
    if (error.location().line <= 0)
      throw InternalError(std::string("refused, but not at a place: ") + error.what());
  }
  return 0;
}
