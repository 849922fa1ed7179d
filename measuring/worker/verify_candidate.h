// Verifies one candidate on one data set: are its results
// within the bound, and does it access only its own memory?
#pragma once

#include <optional>
#include <vector>

#include "tunesmith/measure/failure.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/verify_outputs.h"
#include "worker/argument_memory.h"

namespace tunesmith {

/// Inputs, and the reference's results.
struct Draw {
  std::vector<Tensor> inputs;
  std::vector<ExpectedOutput> expected;  // for each output
};

/// The data on which a candidate is verified: one call, or one per draw if several draws are needed.
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

/// The fault after a call on the set: a write outside its memory, or a wrong
/// output. `worst`, if given, is raised to the largest error divided by its bound.
std::optional<CandidateFailure> wrong_after_call(const DataSet& data,
                                                 const std::vector<ExpectedOutput>& expected,
                                                 const GuardedBuffer* workspace, tunesmith_runtime_pool* pool,
                                                 double* worst = nullptr);

/// Runs the preparation, if any, and one call, with all memory that the kernel does not receive
/// poisoned. `workspace` is null if it needs none, `pool` if everything is to run on the
/// calling thread. Throws EnvironmentError if there is not enough memory for the preparation.
Verdict verify_candidate(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                         GuardedBuffer* workspace, tunesmith_runtime_pool* pool);

}  // namespace tunesmith
