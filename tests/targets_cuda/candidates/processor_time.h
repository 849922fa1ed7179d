// The processor time of this process and its children: on a shared machine, a clock tells less.
#pragma once

namespace tunesmith::testing {

/// The seconds of all threads; those of running processes count in steps of 10 ms.
double processor_seconds();

}  // namespace tunesmith::testing
