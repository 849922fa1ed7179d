// The task a worker works on: inputs, the reference, and how one candidate is verified and timed.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "measure/disturbance.h"
#include "measure/guarded_buffer.h"
#include "measure/message.h"
#include "measure/prepared_memory.h"
#include "measure/time_kernel.h"
#include "tunesmith/interp/tensor.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/runtime.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

class WorkerTask {
 public:
  /// From a "task" message: makes the target, draws the inputs, runs the reference (or takes its results from
  /// the attachments).
  explicit WorkerTask(const Message& message);

  /// The reference's results, for a worker that may have to take over.
  std::vector<std::string> reference_results() const;

  /// Answers {samples, reading, verified_error}, with prepare_seconds where the kernel has a PrepareStep, or
  /// {failure, message}.
  nlohmann::json run(const Message& message);
  /// Takes a kernel into the rounds, after those there are or (begin) instead of them. Answers {seconds} of a
  /// first call, or {failure, message}. A run() ends the rounds.
  nlohmann::json add_to_rounds(const Message& message);
  /// Answers {samples: [[..], ..], reading} of the kernels in the rounds.
  nlohmann::json time_in_turn(const Message& message);

 private:
  struct Argument {
    Buffer buffer;
    bool output = false;
    GuardedBuffer guarded;  // ends at a guard page: for the run that is verified
    GuardedBuffer aligned;  // begins on a page: for the runs that are timed
  };

  void draw_inputs(bool positive);
  void run_reference(const CompiledKernel& kernel);
  bool reference_is_finite() const;
  void take_results(const std::vector<std::string>& results);
  void fill_outputs();
  using Pointers = std::vector<void*>;
  /// What the kernel gets for its verified (`guarded`) or its timed calls.
  Pointers kernel_pointers(const CompiledKernel& kernel, const PreparedMemory* prepared, bool guarded) const;
  /// Likewise its preparation.
  Pointers prepare_pointers(const PrepareStep& step, const PreparedMemory& prepared, bool guarded) const;
  std::byte* workspace(int64_t bytes);
  void end_rounds();

  std::unique_ptr<PluginRegistry> registry_;
  std::string target_id_;
  std::shared_ptr<Target> target_;
  std::deque<Argument> arguments_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> values_;      // the reference's, of each output
  std::vector<Tensor> magnitudes_;  // likewise
  std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool_{
      nullptr, tunesmith_runtime_pool_destroy};
  std::unique_ptr<GuardedBuffer> workspace_;
  /// What the kernels in the rounds stand on.
  struct Loaded {
    std::unique_ptr<LoadedKernel> kernel;
    std::unique_ptr<PreparedMemory> prepared;
  };
  std::vector<Loaded> loaded_;
  std::vector<InterleavedKernel> rounds_;
  std::unique_ptr<DisturbanceProbe> probe_;
  uint64_t data_seed_ = 0;
  double error_unit_ = 0.0;
  SamplingOptions sampling_;
};

/// The kernel that a header and an attachment describe.
CompiledKernel kernel_from(const nlohmann::json& header, const std::string& object);

}  // namespace tunesmith
