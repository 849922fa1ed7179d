// Does a trace keep what a program computes? And the smallest trace that does not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tunesmith/intrinsics/tensor_intrinsic.h>
#include <tunesmith/ir/program.h>
#include <tunesmith/trace/trace.h>
#include <tunesmith/verification/tensor.h>

#include "random_workload.h"

namespace tunesmith::fuzz {

/// Those of tests/intrinsics.yaml, known to tensorize() from the first call on.
const std::vector<TensorIntrinsicPtr>& test_intrinsics();

/// "" when the trace is refused, or when the program that it makes gives, interpreted, what `program` gives
/// on random data; else what is wrong.
std::string check_trace(const Program& program, const Trace& trace, Numbers numbers = Numbers::Reals);

/// "" or by how much an argument differs: at all for exact numbers, beyond rounding in f64 for reals.
std::string difference(const std::vector<Tensor>& expected, const std::vector<Tensor>& given,
                       Numbers numbers);

/// "" or what is wrong with what the trace makes of the program.
using TraceCheck = std::function<std::string(const Program&, const Trace&)>;

/// Leaves out instructions (with all that needs their results) as long as what is left still fails.
Trace shrink(const Program& program, Trace failing, const TraceCheck& check);

}  // namespace tunesmith::fuzz
