// The extension module: the parts of the libraries that
// Python can use. The Python package adds the rest.
#include <string>

#include <nanobind/nanobind.h>

#include <tunesmith/support/version.h>

#include "candidate.h"
#include "errors.h"
#include "plugins.h"
#include "refs.h"
#include "say.h"

namespace tunesmith::python {
namespace {

/// Remarks go to the logger "tunesmith", which prints them on standard error by default.
void log(const std::string& line) {
  if (!Py_IsInitialized()) return;
  const nb::gil_scoped_acquire locked;
  nb::module_::import_("logging").attr("getLogger")("tunesmith").attr("warning")("%s", line.c_str());
}

}  // namespace

NB_MODULE(_tunesmith, module) {
  module.doc() = "The libraries of Tunesmith. Import `tunesmith`, which has all of this and more.";
  module.attr("__version__") = std::string(kernel_version());
  cli::say_to(log);
  bind_errors(module);
  bind_workload(module);
  bind_program(module);
  bind_trace(module);
  bind_schedule(module);
  bind_space(module);
  bind_kernel(module);
  bind_records(module);
  bind_tune(module);
  bind_result(module);
  bind_tune_many(module);
  bind_task(module);
  bind_search(module);
  bind_candidate(module);
  bind_plugins(module);
  bind_machine(module);
}

}  // namespace tunesmith::python
