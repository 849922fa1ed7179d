// The device as data: its levels and scopes, its quantities, and the steps by which programs are lowered for
// it.
#pragma once

#include <string>

#include "machine/architecture.h"
#include "tunesmith/lower/pipeline.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith::cuda {

/// Memory of a block, in the words of a schedule.
inline constexpr const char* kScopeShared = "shared";

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;
/// What a warp holds together in its registers, in a layout that its instructions know.
inline constexpr const char* kScopeFragment = "fragment";
/// And what a warpgroup does.
inline constexpr const char* kScopeAccumulator = "accumulator";
/// Is it held in registers by threads together?
inline bool is_held(const Buffer& buffer) {
  return buffer->scope == kScopeFragment || buffer->scope == kScopeAccumulator;
}
/// Is it what a thread has, alone or with others of its group?
bool in_registers(const Buffer& buffer);
/// Do elements of what lies in registers depend on the loop's variable? It is then written out.
bool indexes_registers(const Loop& loop);
/// Where arrays in shared memory begin, in bytes.
inline constexpr int64_t kSharedAlignment = 32;

/// Levels `block` and `thread`, each with the axes x, y and z, and between them `warp` with the axis x, whose
/// groups are the 32 threads along thread.x; scopes global, shared, fragment, local and register. Where the
/// architecture has warpgroups, they are a level `warpgroup` like `warp`, with the scope accumulator.
ExecutionModel execution_of(const Architecture& architecture);
DeviceModel device_of(const Architecture& architecture);

struct GridAxis {
  bool of_block = false;  // of the grid of blocks, else of the threads of a block
  size_t position = 0;    // x, y, z
};
/// What a loop is bound to: warps, or warpgroups, lie along the y of the threads. LowerError for what is none
/// of them.
GridAxis grid_axis(const std::string& thread);

/// Vectors are of what one instruction loads or stores; what is to run on cores becomes a loop of each
/// thread.
Pipeline device_pipeline();

}  // namespace tunesmith::cuda
