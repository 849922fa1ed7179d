// One candidate on one data set: is what it computes within the bound, and does it touch only what is its
// own?
#pragma once

#include <optional>
#include <vector>

#include "tunesmith/measure/failure.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/verify_outputs.h"
#include "worker/argument_memory.h"

namespace tunesmith {

/// Inputs, and what the reference makes of them.
struct Draw {
  std::vector<Tensor> inputs;
  std::vector<ExpectedOutput> expected;  // of each output
};

/// What a candidate is verified on with one call, or, where one draw does not see all, one for each draw.
struct DataSet {
  DataSet(std::span<const Argument> arguments, Placement memory_placement, std::byte memory_poison)
      : memory(arguments, memory_placement), placement(memory_placement), poison(memory_poison) {}

  ArgumentMemory memory;
  Placement placement;  // also of workspace and prepared memory
  std::byte poison;
  std::vector<Draw> draws;  // one holds no inputs: they stay in the memory
};

struct Verdict {
  double seconds = 0.0;  // of the call
  double worst = 0.0;    // the largest error over its bound
  std::optional<CandidateFailure> failure;
};

/// What a call on the set has left: a write outside of its memory, or an output that is not what is expected.
/// `worst`, where it is asked for, grows to the largest error over its bound.
std::optional<CandidateFailure> wrong_after_call(const DataSet& data,
                                                 const std::vector<ExpectedOutput>& expected,
                                                 const GuardedBuffer* workspace, tunesmith_runtime_pool* pool,
                                                 double* worst = nullptr);

/// Prepares, where the kernel has a preparation, and calls it once, all memory that it does not receive being
/// poisoned. `workspace` is null when it needs none, `pool` when all is to be done on the calling thread.
/// Throws EnvironmentError when there is no memory for what is prepared.
Verdict verify_candidate(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                         GuardedBuffer* workspace, tunesmith_runtime_pool* pool);

}  // namespace tunesmith
