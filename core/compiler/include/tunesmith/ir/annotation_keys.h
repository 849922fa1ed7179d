// Annotations that lowering and targets interpret. Others are passed on to modules and have no effect.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// On a tensorized block and on its lowered loop: the name of the called tensor intrinsic.
inline constexpr const char* kTensorIntrinsic = "tensor_intrinsic";

/// On the loop of such a call, set by lowering: content_hash() of the intrinsic, as
/// TensorIntrinsics::content_of() prints it. A changed implementation therefore makes a different program.
inline constexpr const char* kTensorContent = "tensor_content";

/// On the loop of such a call in a program with joined threads: the axis along which the members of the
/// executing group lie. The group executes the call once, ordered as an access of its first member.
inline constexpr const char* kTogetherAlong = "together_along";

/// On a loop: prefetch the memory that the iteration this many steps ahead
/// loads. Does not change results; a target without prefetching ignores it.
inline constexpr const char* kPrefetch = "prefetch";

/// On a loop, 1 or 0: while it and the loops around it repeatedly read contiguous
/// memory, each iteration prefetches a part of what follows, if a loop further outside
/// continues there. Does not change results; a target without prefetching ignores it.
inline constexpr const char* kPrefetchBehind = "prefetch_behind";

/// On a loop, 1 or 0: whole vectors stored under it bypass the
/// caches, for buffers that the loop does not load. Does not
/// change results; a target without such stores ignores it.
inline constexpr const char* kNontemporal = "nontemporal";

/// On a block that writes one intermediate buffer, with the value 1: the buffer gets two halves; while one
/// iteration of the enclosing loop reads one half, the other is filled for the next. Lowering throws
/// LowerError if the loop is not serial or the block reads a buffer that the loop writes.
inline constexpr const char* kDoubleBuffer = "double_buffer";

/// On a loop, set by the instruction software_pipeline, and kept by
/// lowering: the number of iterations in flight. Does not change
/// results; a target without the pass `pipeline_loops` ignores it.
inline constexpr const char* kSoftwarePipeline = "software_pipeline";

}  // namespace tunesmith
#pragma GCC visibility pop
