// Translates traces between programs that differ only in names.
#pragma once

#include <tl/expected.hpp>

#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Translates `trace`, made for `from`, to the block names of `to`; the two
/// programs must have equal structural hashes. The unexpected value is the
/// refusal of an instruction. `intrinsics`: as in a schedule's constructor.
tl::expected<Trace, ScheduleError> with_names_of(
    const Program& to, const Program& from, const Trace& trace,
    const std::shared_ptr<const TensorIntrinsics>& intrinsics = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
