#include "tunesmith/performance/grid_work.h"

#include <gtest/gtest.h>

#include "tunesmith/performance/occupancy.h"
#include "tunesmith/trace/schedule.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

DeviceModel grid_device() {
  DeviceModel device;
  for (const auto& [name, value] : std::map<std::string, double>{{"cores", 4},
                                                                 {"warp_size", 32},
                                                                 {"sector_bytes", 32},
                                                                 {"access_bytes", 16},
                                                                 {"core_threads", 2048},
                                                                 {"core_blocks", 16},
                                                                 {"core_registers", 65536},
                                                                 {"core_shared_bytes", 65536},
                                                                 {"core_parts", 4},
                                                                 {"register_unit", 256},
                                                                 {"shared_unit_bytes", 128},
                                                                 {"reserved_shared_bytes", 1024},
                                                                 {"block_shared_bytes", 49152},
                                                                 {"max_thread_registers", 255},
                                                                 {"max_threads_per_block", 1024},
                                                                 {"issue_per_cycle", 128},
                                                                 {"fma_per_cycle", 64},
                                                                 {"clock_ghz", 1},
                                                                 {"memory_bytes_per_second", 1e12},
                                                                 {"l2_bytes_per_second", 3e12},
                                                                 {"barrier_cycles", 30},
                                                                 {"launch_seconds", 3e-6}}) {
    device.set(name, value);
  }
  return device;
}

GridWork work_of(const Schedule& schedule) {
  const ExecutionModel execution = grid_machine();
  const LoweredProgram lowered = lowered_for_grid(schedule.program());
  const std::vector<GridWork> all = grid_work(lowered.program, *lockstep_machine(execution, grid_device()));
  EXPECT_EQ(all.size(), 1u);
  return all.front();
}

Schedule scaled(int64_t threads, int64_t stride) {
  Schedule s(program_of("X: {shape: [4096], dtype: f32}", "O[i<4096] = X[i] * 2 + 1"));
  const LoopRV loop = s.get_loops(s.get_block("O"))[0];
  const std::vector<LoopRV> parts = s.split(loop, {std::nullopt, threads, stride});
  s.bind(parts[0], "block.x");
  s.bind(parts[1], "thread.x");
  return s;
}

TEST(GridWork, IsCountedFromTheText) {
  const GridWork work = work_of(scaled(64, 1));
  EXPECT_EQ(work.blocks, 64);
  EXPECT_EQ(work.threads, 64);
  EXPECT_EQ(work.arithmetic, 4096) << "a product goes into its sum";
  EXPECT_EQ(work.sectors, 2 * 4096 * 4 / 32);
  EXPECT_EQ(work.touched_bytes, 2 * 4096 * 4);
  EXPECT_EQ(work.barriers, 0);
  EXPECT_GT(work_of(scaled(64, 8)).sectors, 7 * work.sectors) << "threads far from one another";
}

TEST(GridWork, CountsOnceWhatUnrolledLoopsLoadAgain) {
  const auto product = [](bool unrolled) {
    Schedule s(gmm(64, 64, 16));
    const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
    const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, 4});
    const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, 4});
    s.reorder({i[0], j[0], loops[2], i[1], j[1]});
    s.bind(i[0], "block.x");
    s.bind(j[0], "thread.x");
    if (unrolled) {
      s.unroll(i[1]);
      s.unroll(j[1]);
    }
    return work_of(s);
  };
  EXPECT_LT(product(true).sectors, product(false).sectors);
  EXPECT_EQ(product(true).arithmetic, product(false).arithmetic);
}

TEST(GridWork, CountsBarriersAndWhatABlockAndAThreadKeep) {
  Schedule s(gmm(16, 16, 32));
  const BlockRV product = s.get_block("O");
  const BlockRV writer = s.cache_write(product, 0, "local");
  const BlockRV copy = s.cache_read(product, 0, "shared");
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, 8});
  s.reorder({loops[0], k[0], loops[1], k[1]});
  s.compute_at(copy, k[0]);
  s.reverse_compute_at(writer, loops[0]);
  s.bind(loops[0], "block.x");
  s.bind(loops[1], "thread.x");
  s.bind(s.get_loops(copy).back(), "thread.x");
  s.bind(s.get_loops(writer).back(), "thread.x");
  const GridWork work = work_of(s);
  EXPECT_EQ(work.threads, 16);
  EXPECT_EQ(work.barriers, 2 * 4);
  EXPECT_EQ(work.block_bytes, 32) << "eight of the threads fill it";
  EXPECT_GT(work.registers, 24) << "its result";
  EXPECT_GT(work.wavefronts, 0);
}

TEST(GridTime, IsShorterWhereMoreOfTheMachineIsUsed) {
  const ExecutionModel execution = grid_machine();
  const auto seconds = [&](int64_t threads, int64_t stride) {
    return grid_seconds(lowered_for_grid(scaled(threads, stride).program()).program, execution,
                        grid_device());
  };
  EXPECT_LT(seconds(64, 1), seconds(64, 8));
  EXPECT_LT(seconds(64, 1), seconds(8, 1));
  const GridTime time = grid_time(work_of(scaled(64, 1)), grid_device());
  EXPECT_EQ(time.resident_blocks, 16);
  EXPECT_EQ(time.waves, 1);
  EXPECT_GE(time.total(), time.launch + time.cache);
}

TEST(GridTime, NamesTheQuantityThatIsMissing) {
  EXPECT_THROW(grid_time(GridWork(), DeviceModel()), EnvironmentError);
  EXPECT_FALSE(lockstep_machine(grid_machine(), DeviceModel()).has_value());
}

}  // namespace
}  // namespace tunesmith
