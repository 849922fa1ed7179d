// A valid job, for tests and the fuzzer.
#pragma once

#include "tunesmith/measuring/job.h"

namespace tunesmith::test {

inline RecordedCandidate example_candidate() {
  return {{0x1234, "twice:n=8", "name: twice\n"},
          "llvm 19 generator=g lowering=l with=vnni:0f3c",
          4,
          "",
          "# tunesmith trace 2\nenter_finishing()\n",
          2,
          0xabcd};
}

inline Job example_job() { return {example_candidate(), {2.5, 1 << 20, 1, 7, 0.25}}; }

}  // namespace tunesmith::test
