#include "machine/execution.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/vector_loops.h"
#include "tunesmith/grid/steps.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

/// For a thread's arrays: the compiler puts what exceeds its registers in memory, which is then refused.
constexpr int64_t kLocalBytes = kMaxRegistersOfThread * int64_t{4};

/// Per multiprocessor, each with a quarter of its registers.
constexpr double kSchedulers = 4;

/// A thread's arrays are in registers only if their indices are constant after unrolling.
void unroll_over_arrays(Program& program) {
  walk_accesses(program.root(), [](Stmt& stmt, const AccessSite& access) {
    if (!in_registers(access.buffer)) return;
    std::vector<Loop*> loops = loops_above(stmt);
    // The instruction defines a call's registers.
    const auto call = std::ranges::find_if(
        loops, [](const Loop* loop) { return loop->annotations.contains(kTensorIntrinsic); });
    loops.erase(call, loops.end());
    for (Loop* loop : loops) {
      const bool constant = loop->min.is(ExprKind::IntImm) && loop->extent.is(ExprKind::IntImm);
      const bool indexes =
          std::ranges::any_of(access.indices, [&](const Expr& index) { return uses_var(index, loop->var); });
      if (constant && indexes && loop->loop_kind == LoopKind::Serial) loop->loop_kind = LoopKind::Unrolled;
    }
  });
}

}  // namespace

bool in_registers(const Buffer& buffer) {
  return buffer->scope == kScopeLocal || buffer->scope == kScopeRegister || is_held(buffer);
}

bool indexes_registers(const Loop& loop) {
  bool found = false;
  walk_accesses(*loop.body(), [&](const Stmt&, const AccessSite& access) {
    found =
        found || (in_registers(access.buffer) && std::ranges::any_of(access.indices, [&](const Expr& index) {
                    return uses_var(index, loop.var);
                  }));
  });
  return found;
}

ExecutionModel execution_of(const Architecture& architecture) {
  ExecutionModel model;
  model.levels = {
      {"block", {"x", "y", "z"}, {kMaxGrid[0], kMaxGrid[1], kMaxGrid[2]}, kMaxGrid[0], false},
      {"warp", {"x"}, {kMaxThreadsOfBlock / kWarp}, kMaxThreadsOfBlock / kWarp, true, kWarp},
      {"thread", {"x", "y", "z"}, {kMaxBlock[0], kMaxBlock[1], kMaxBlock[2]}, kMaxThreadsOfBlock, true}};
  model.scopes = {{kScopeGlobal, "", 0, 256, 0, 0},
                  {kScopeShared, "block", static_cast<int64_t>(architecture.block_shared_bytes),
                   kSharedAlignment, 32, 4, architecture.async_copy_bytes},
                  {kScopeFragment, "warp", kWarp * kLocalBytes, 4, 0, 0},
                  {kScopeLocal, "thread", kLocalBytes, 16, 0, 0},
                  {kScopeRegister, "thread", kLocalBytes, 4, 0, 0}};
  if (const auto group = static_cast<int64_t>(architecture.warpgroup_threads); group > 0) {
    const int64_t most = kMaxThreadsOfBlock / group;
    model.levels.insert(model.levels.begin() + 1, {"warpgroup", {"x"}, {most}, most, true, group});
    model.scopes.push_back({kScopeAccumulator, "warpgroup", group * kLocalBytes, 4, 0, 0});
  }
  return model;
}

DeviceModel device_of(const Architecture& architecture) {
  DeviceModel device;
  device.set("cores", architecture.multiprocessors);
  device.set("warp_size", kWarp);
  device.set("sector_bytes", 32);
  device.set("access_bytes", kAccessBytes);
  device.set("max_threads_per_block", kMaxThreadsOfBlock);
  device.set("core_threads", static_cast<double>(architecture.warps * kWarp));
  device.set("core_blocks", architecture.blocks);
  device.set("core_registers", architecture.registers);
  device.set("core_shared_bytes", static_cast<double>(architecture.shared_bytes));
  device.set("core_parts", kSchedulers);
  device.set("register_unit", 256);
  device.set("shared_unit_bytes", static_cast<double>(architecture.shared_unit_bytes));
  device.set("reserved_shared_bytes", static_cast<double>(architecture.reserved_shared_bytes));
  device.set("block_shared_bytes", static_cast<double>(architecture.block_shared_bytes));
  device.set("max_thread_registers", kMaxRegistersOfThread);
  device.set("issue_per_cycle", kSchedulers * kWarp);
  device.set("barrier_cycles", 30);
  device.set("memory_latency_cycles", 500);
  device.set("launch_seconds", 3e-6);
  device.set("max_shared_bytes", static_cast<double>(architecture.block_shared_bytes));
  device.set("vector_bits", 32);
  device.set("vector_registers", kMaxRegistersOfThread);
  device.set("fma_per_cycle", architecture.fma_per_cycle);
  device.set("clock_ghz", architecture.clock_mhz / 1e3);
  device.set("memory_bytes_per_second", architecture.memory_gb_per_second * 1e9);
  device.set("l2_bytes_per_second", architecture.l2_gb_per_second * 1e9);
  device.set("cache_line_bytes", 128);
  // For models that use the levels of the host's caches.
  device.set("l1_bytes", static_cast<double>(architecture.shared_bytes));
  device.set("l2_bytes", 32.0 * 1024 * 1024);
  device.description =
      fmt::format("{} ({} multiprocessors), emulated", architecture.name, architecture.multiprocessors);
  return device;
}

GridAxis grid_axis(const std::string& thread) {
  const size_t dot = thread.find('.');
  const std::string level = thread.substr(0, dot);
  const size_t position =
      dot == std::string::npos ? std::string::npos : std::string("xyz").find(thread.substr(dot + 1));
  if (thread == "warp.x" || thread == "warpgroup.x") return {false, 1};
  if (position == std::string::npos || (level != "block" && level != "thread"))
    throw LowerError("cuda", "a loop is bound to what the device does not have", thread);
  return {level == "block", position};
}

Pipeline device_pipeline() {
  return Pipeline({
      kernel_step("lower_blocks"),
      kernel_step("split_buffers"),
      program_step("write_out_lanes", write_out_lanes),
      grid::join_threads(),
      kernel_step("place_buffers"),
      grid::pipeline_loops(),
      kernel_step("double_buffers"),
      grid::close_gaps(),
      kernel_step("tighten_loops"),
      kernel_step("mask_loads"),
      kernel_step("flatten"),
      kernel_step("call_intrinsics"),
      program_step("cut_vectors", cut_vectors),
      kernel_step("vectorize_loops"),
      program_step("unroll_over_arrays", unroll_over_arrays),
      kernel_step("hoist_conditions"),
      kernel_step("promote_accumulators"),
      kernel_step("remove_unit_loops"),
      grid::plan_scopes(),
  });
}

}  // namespace tunesmith::cuda
