// What this process and all that it started have taken of the processors: unlike a clock, it says how long a
// check takes on a machine that others use, too.
#pragma once

namespace tunesmith::testing {

/// Seconds, of all threads. Of processes that are still there in steps of 10 ms.
double processor_seconds();

}  // namespace tunesmith::testing
