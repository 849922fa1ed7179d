// The machine lock, for code that is timed in Python.
#include <tunesmith/measuring/machine_lock.h>

#include "errors.h"
#include "refs.h"
#include "say.h"

namespace tunesmith::python {
namespace {

struct MachineTurn {
  MachineLock lock{MachineLock::default_file(), cli::say};
  MachineLock::Turn turn;
};

}  // namespace

void bind_machine(nb::module_& module) {
  nb::class_<MachineTurn>(module, "MachineTurn",
                          "Within `with`, nothing else of Tunesmith's measures on this machine.")
      .def(nb::init<>())
      .def("__enter__",
           [](MachineTurn& self) {
             require_own_process();
             const nb::gil_scoped_release unlocked;
             self.turn = self.lock.wait(MachineLock::Use::Measure);
           })
      .def(
          "__exit__", [](MachineTurn& self, const nb::args& /*raised*/) { self.turn = {}; },
          nb::sig("def __exit__(self, *raised: object) -> None"));
}

}  // namespace tunesmith::python
