// Annotations that lowering and targets know. All others are for modules to pass on, and change nothing.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Of a tensorized block, and of the loop that lowering makes of it: the name of the tensor intrinsic that it
/// calls.
inline constexpr const char* kTensorIntrinsic = "tensor_intrinsic";

/// Of the loop of such a call, put there by lowering: content_hash() of the intrinsic, as
/// TensorIntrinsics::content_of() has it. So an instruction that is implemented otherwise is another program.
inline constexpr const char* kTensorContent = "tensor_content";

/// Of the loop of such a call in a joined program: the name of the axis along which the members of a group
/// lie that make the call together. It happens once for all of them, at the first one's place in the order of
/// accesses.
inline constexpr const char* kTogetherAlong = "together_along";

/// Of a loop: while an iteration runs, memory that the one so many iterations ahead will load is fetched.
/// What the program computes stays the same; a target that has nothing of the sort leaves it out.
inline constexpr const char* kPrefetch = "prefetch";

/// Of a loop, 1, or 0 for nothing: while the loop and those around it read memory without gaps again and
/// again, what lies behind is fetched, a share in each iteration, where a loop further outside continues
/// there. What the program computes stays the same; a target that has nothing of the sort leaves it out.
inline constexpr const char* kPrefetchBehind = "prefetch_behind";

/// Of a loop, 1, or 0 for nothing: whole vectors that are stored under it, to buffers that it does not load,
/// go past the caches. What the program computes stays the same; a target that has nothing of the sort leaves
/// it out.
inline constexpr const char* kNontemporal = "nontemporal";

/// Of a block that writes one intermediate buffer, with the value 1: the buffer gets two halves, and while
/// one iteration of the loop around reads the one, the other is filled for the next. Lowering refuses it
/// (LowerError) where the loop is not serial, or what fills the buffer reads what the loop writes.
inline constexpr const char* kDoubleBuffer = "double_buffer";

/// Of a loop, by the instruction software_pipeline, and of what lowering makes of it: how many iterations are
/// under way at once. What the program computes stays the same; a target whose list of passes lacks
/// `pipeline_loops` leaves it out.
inline constexpr const char* kSoftwarePipeline = "software_pipeline";

}  // namespace tunesmith
#pragma GCC visibility pop
