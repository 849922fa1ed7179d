// Traces between programs that differ in names only.
#pragma once

#include <tl/expected.hpp>

#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// `trace`, made for `from`, with the names that its blocks have in `to`: the two programs have one
/// structural hash. The unexpected value is the refusal of an instruction. `intrinsics`: as a schedule's
/// constructor takes them.
tl::expected<Trace, ScheduleError> with_names_of(
    const Program& to, const Program& from, const Trace& trace,
    const std::shared_ptr<const TensorIntrinsics>& intrinsics = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
