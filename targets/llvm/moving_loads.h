// The loads in a loop's body whose addresses move with the loop.
#pragma once

#include <functional>
#include <optional>

#include "function_emitter.h"

namespace tunesmith::llvm_target {

class MovingLoads {
 public:
  /// Returns whether to continue.
  using Visit = std::function<bool(const BufferSlot& slot, DType type, const LaneIndex& index)>;

  MovingLoads(FunctionEmitter& emitter, const Var& moving, Visit visit)
      : emitter_(emitter), moving_(moving), visit_(std::move(visit)) {}

  /// Visits all iterations of unrolled loops, and only the first iteration of others.
  void walk(const Stmt& stmt);

 private:
  void add(const LoadNode& load);

  FunctionEmitter& emitter_;
  const Var& moving_;
  const Visit visit_;
  bool done_ = false;
};

/// The value of an integer annotation of a loop.
std::optional<int64_t> whole_annotation(const Loop& loop, const char* key);

}  // namespace tunesmith::llvm_target
