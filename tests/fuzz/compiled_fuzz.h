// Compiles random workloads with random traces, and compares the results, on guarded buffers, with those of
// the interpreted unscheduled program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tunesmith/trace/trace.h>

#include "llvm_target.h"
#include "random_workload.h"

namespace tunesmith::fuzz {

class CompiledFuzz {
 public:
  explicit CompiledFuzz(uint64_t seed);

  /// Runs pair `index` of the seed, which is independent of other pairs. Returns "", or the fault with the
  /// smallest trace that shows it.
  std::string run(uint64_t index);

  /// The workload and the trace of pair `index`.
  std::string text(uint64_t index) const;

  /// The number of programs compiled and compared; others cannot be lowered, or take too long.
  uint64_t compiled() const { return compiled_; }

 private:
  struct Pair {
    RandomWorkload workload;
    Trace trace;
    Program scheduled;
    bool too_long = false;
  };
  Pair make(uint64_t index) const;
  /// "" if the compiled `scheduled` computes what the interpreted `program` does.
  std::string check(const Program& program, const Program& scheduled, Numbers numbers, int threads);

  uint64_t seed_;
  std::unique_ptr<llvm_target::LlvmTarget> target_;
  uint64_t compiled_ = 0;
};

}  // namespace tunesmith::fuzz
