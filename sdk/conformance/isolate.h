#pragma once

#include <functional>

#include "verdict.h"

namespace tunesmith::conformance {

/// Runs `check` in a child process. A crash, a hang of more than `seconds`, an exit, an exception
/// or output fails with the rule that it breaks and what the check was doing (at_work.h).
Verdict isolate(const std::function<Verdict()>& check, int seconds);

}  // namespace tunesmith::conformance
