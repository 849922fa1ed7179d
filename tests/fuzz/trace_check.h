// Checks whether a trace keeps a program's results, and shrinks a trace that does not.
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

/// The intrinsics of tests/intrinsics.yaml, which tensorize() knows after the first call.
const std::vector<TensorIntrinsicPtr>& test_intrinsics();

/// "" if the trace is refused, or its program, interpreted on random data, computes what `program` does.
std::string check_trace(const Program& program, const Trace& trace, Numbers numbers = Numbers::Reals);

/// "", or by how much an argument differs. Exact numbers must be equal, reals within rounding in f64.
std::string difference(const std::vector<Tensor>& expected, const std::vector<Tensor>& given,
                       Numbers numbers);

/// Returns "", or the fault of the program that the trace makes.
using TraceCheck = std::function<std::string(const Program&, const Trace&)>;

/// Removes instructions, and those that use their results, while the rest still fails.
Trace shrink(const Program& program, Trace failing, const TraceCheck& check);

}  // namespace tunesmith::fuzz
