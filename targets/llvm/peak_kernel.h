// A kernel of independent multiply-adds, as many concurrently as hide their latency.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>

#include "machine.h"
#include "tunesmith/ir/dtype.h"

namespace tunesmith::llvm_target {

/// One multiply-add instruction of the machine, the fastest that it has for a type.
struct PeakOperation {
  enum class Kind { FusedMultiplyAdd, MultiplyThenAdd, DotBf16, DotInt8, DotInt16 };
  Kind kind;
  DType accumulator;  // with lanes
  /// Arithmetic operations of one instruction (or pair), a product and a sum counting one each.
  double operations;
};

PeakOperation peak_operation(DType type, const Machine& machine);

/// Kernel without buffers, with a workspace of 64 bytes a thread for its results: runs `iterations` rounds of
/// `accumulators` operations on each of `threads` threads.
std::unique_ptr<llvm::Module> emit_peak_kernel(llvm::LLVMContext& context, const std::string& symbol,
                                               const PeakOperation& operation, int accumulators,
                                               int64_t iterations, int threads);

}  // namespace tunesmith::llvm_target
