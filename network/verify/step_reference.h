// What a workload must compute of given values, and how far it may be off.
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

/// One result of a step against its reference.
struct ResultDifference {
  double worst = 0;
  double looseness = 0;
  std::string message;  // empty where it is right
};

class StepReference {
 public:
  /// Compiled by the target, and run on `pool`, where it takes more operations than `max_interpreted`.
  StepReference(const Workload& workload, DataKind data, Target& target, tunesmith_runtime_pool* pool,
                int64_t max_interpreted);

  bool interpreted() const { return compiled_ == nullptr; }
  /// Inputs on which its bounds are tight, and its results there. `constants`: what an input is, null where
  /// it may be anything. Throws UserError where there are none.
  DrawnData draw(std::span<const std::span<const std::byte>> constants) const;
  /// `inputs`: the bytes of the workload's inputs; `results`: those of its outputs as the kernel left them.
  std::vector<ResultDifference> compare(std::span<const std::span<const std::byte>> inputs,
                                        std::span<const std::span<const std::byte>> results) const;

 private:
  struct Compiled;
  void run(std::span<tunesmith::Tensor> tensors) const;

  tunesmith_runtime_pool* pool_;
  std::vector<Buffer> inputs_, outputs_;  // of the workload
  DataQuestion question_;
  Program reference_;
  std::shared_ptr<const Compiled> compiled_;  // null: interpreted
};

}  // namespace tunesmith::network
