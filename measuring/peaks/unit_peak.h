// The peak of a unit that an extension describes, measured by a program that only calls its instruction.
#pragma once

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {

struct UnitPeak {
  LoweredProgram program;   // without arguments; about half a millisecond of calls
  double operations = 0.0;  // per call of the program
};

/// Calls an intrinsic with TensorIntrinsic::peak_sums: each of `threads` iterations of
/// a parallel loop accumulates into that many sums, with operands in the nearest cache.
UnitPeak unit_peak(const TensorIntrinsicPtr& intrinsic, int threads);

/// Can times of `program` be compared with this unit's peak: do its inputs have the types of the operands?
bool is_peak_of(const TensorIntrinsic& intrinsic, const Program& program);

}  // namespace tunesmith
