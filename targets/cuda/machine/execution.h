// The device as data: its levels and scopes, its quantities, and its lowering steps.
#pragma once

#include <string>

#include "machine/architecture.h"
#include "tunesmith/lower/pipeline.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith::cuda {

/// The name of a block's memory in schedules.
inline constexpr const char* kScopeShared = "shared";

/// Threads per warp.
inline constexpr int64_t kWarp = 32;
/// Threads per warpgroup, where there are any.
inline constexpr int64_t kWarpgroup = 128;
/// Registers that a warp holds together, in a layout that its instructions define.
inline constexpr const char* kScopeFragment = "fragment";
/// The same for a warpgroup.
inline constexpr const char* kScopeAccumulator = "accumulator";
/// Is it held in registers by threads together?
inline bool is_held(const Buffer& buffer) {
  return buffer->scope == kScopeFragment || buffer->scope == kScopeAccumulator;
}
/// Is it in registers of a thread, alone or together with its group?
bool in_registers(const Buffer& buffer);
/// Do indices of register buffers depend on the loop's variable? It is then unrolled.
bool indexes_registers(const Loop& loop);
/// The alignment of arrays in shared memory, in bytes.
inline constexpr int64_t kSharedAlignment = 32;

/// The levels `block` and `thread`, each with the axes x, y and z, and between them `warp` with the axis
/// x, whose groups are 32 threads along thread.x; scopes global, shared, fragment, local and register.
/// Architectures with warpgroups have a level `warpgroup` like `warp`, with the scope accumulator.
ExecutionModel execution_of(const Architecture& architecture);
DeviceModel device_of(const Architecture& architecture);

struct GridAxis {
  bool of_block = false;  // an axis of the grid of blocks, else of the threads of a block
  size_t position = 0;    // x, y, z
};
/// The grid axis of a bound loop: warps and warpgroups are
/// along the y axis of threads. LowerError for others.
GridAxis grid_axis(const std::string& thread);

/// Vectors have the size of one load or store;
/// loops over cores become loops of each thread.
Pipeline device_pipeline();

}  // namespace tunesmith::cuda
