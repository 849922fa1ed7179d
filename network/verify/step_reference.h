// The reference results of a workload on given values, with their tolerances.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tunesmith/network/node_workload.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/reference_twins.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {

/// The comparison of one result with its reference.
struct ResultDifference {
  double worst = 0;
  double looseness = 0;
  std::string message;  // empty if the result is right
};

class StepReference {
 public:
  /// The target compiles the reference, which runs on `pool`, if it has more operations than
  /// `max_interpreted`.
  StepReference(const Workload& workload, DataKind data, Target& target, tunesmith_runtime_pool* pool,
                int64_t max_interpreted);

  bool interpreted() const { return compiled_ == nullptr; }
  /// Inputs for which the bounds are tight, and the results for them. `constants`: the fixed values of
  /// inputs, null for free inputs. Throws UserError if there are none.
  DrawnData draw(std::span<const std::span<const std::byte>> constants) const;
  /// `inputs`: the bytes of the workload's inputs; `results`: the bytes that the kernel wrote.
  std::vector<ResultDifference> compare(std::span<const std::span<const std::byte>> inputs,
                                        std::span<const std::span<const std::byte>> results) const;

 private:
  struct Compiled;
  void run(std::span<tunesmith::Tensor> tensors) const;

  tunesmith_runtime_pool* pool_;
  std::vector<Buffer> inputs_, outputs_;  // of the workload
  DataQuestion question_;
  Program reference_;
  std::shared_ptr<const Compiled> compiled_;  // null if interpreted
};

}  // namespace tunesmith::network
