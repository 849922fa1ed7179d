// Refuses candidates before lowering whose tiles have too few or too many threads, too many strided tiles per
// thread, or more results per thread than its registers can hold. Checks blocks that a tiling annotated with
// `tile_iterations` (the number of results) and loops annotated with `apart`. Lowering checks the capacities
// of scopes.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

constexpr const char* kIterations = "tile_iterations";
constexpr const char* kApart = "apart";
/// A block of so few results need not fill a group of threads.
constexpr int64_t kFew = 64;
/// Registers of a thread besides its results: addresses, counters and operands.
constexpr int64_t kRegistersBesides = 32;

/// For levels that synchronise: the product over the axes
/// of the largest extent of a loop in the block's nest.
int64_t threads_of(const Schedule& schedule, BlockId block, const ExecutionModel& model) {
  int64_t threads = 1;
  for (size_t level = model.first_synchronising(); level < model.levels.size(); ++level) {
    for (size_t axis = 0; axis < model.levels[level].axes.size(); ++axis) {
      const int64_t extent = schedule.axis_extent(block, model.axis_name({level, axis}));
      threads *= std::max<int64_t>(extent, 1);
    }
  }
  return threads;
}

/// Registers of 4 bytes for the results of one thread in the block.
int64_t registers_of_results(const Schedule& schedule, BlockRV block, const std::vector<LoopFacts>& loops) {
  int64_t results = 1;
  for (const LoopFacts& loop : loops) {
    if (loop.kind != LoopKind::Bound && !loop.use.reduction) results *= loop.extent;
  }
  return results * std::max(1, schedule.writes_of(block).front().buffer->dtype.bytes() / 4);
}

/// Available to each of this many threads in a block; unlimited if the target does not say.
int64_t registers_of_thread(const DeviceModel& device, int64_t threads) {
  constexpr double kNoLimit = 1e18;
  const auto group = static_cast<int64_t>(device.get_or("warp_size", 1));
  const int64_t whole_groups = (threads + group - 1) / group * group;
  return static_cast<int64_t>(
      std::min(device.get_or("max_thread_registers", kNoLimit),
               device.get_or("core_registers", kNoLimit) / static_cast<double>(whole_groups)));
}

class VerifyLimits final : public TransformationModule {
 public:
  explicit VerifyLimits(const Options& options)
      : min_threads_(options.get_int("min_threads")), max_apart_(options.get_int("max_apart")) {}

  ModuleStage stage() const override { return ModuleStage::Finishing; }

  /// First of all finishing modules, so that no more work is done on refused candidates.
  ModuleDescription description() const override {
    return {.consumes = {kIterations, kApart},
            .before = {"rewrite_swizzle_or_pad", "bulk_fetch", "cooperative_fetch", "rewrite_reduction_init",
                       "rewrite_parallel_vectorize_unroll"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    std::vector<std::string> names;
    for (const BlockFacts& block : schedule.blocks()) {
      if (schedule.has_annotation(block.id, kIterations)) names.push_back(block.name);
    }
    if (names.empty()) return ModuleResult::not_applicable("no block is tiled for threads");
    for (const std::string& name : names) {
      const BlockRV block = schedule.get_block(name);
      check(schedule, block, name, context);
      // The annotations have no further meaning, and would distinguish equal programs.
      schedule.unannotate(block, kIterations);
      for (const LoopRV& loop : schedule.get_loops(block)) {
        if (schedule.has_annotation(schedule.location(loop), kApart)) schedule.unannotate(loop, kApart);
      }
    }
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  void check(const Schedule& schedule, BlockRV block, const std::string& name,
             const ModuleContext& context) const {
    const BlockId id = schedule.id(block);
    const ExecutionModel& model = context.execution();
    const auto refuse = [&](const char* reason, int64_t number, int64_t limit) {
      throw ScheduleError("verify_limits", reason,
                          name + ": " + std::to_string(number) + ", not " + std::to_string(limit));
    };
    const int64_t threads = threads_of(schedule, id, model);
    const bool few = schedule.annotation(id, kIterations).value() <= kFew;
    if (!few && threads < min_threads_) refuse("too few threads share a tile", threads, min_threads_);
    const int64_t most = model.levels.back().max_together;
    if (threads > most) refuse("more threads than the level has", threads, most);
    const std::vector<LoopFacts> loops = schedule.loops_of(block);
    int64_t apart = 1;
    for (const LoopFacts& loop : loops) {
      if (schedule.has_annotation(loop.id, kApart)) apart *= loop.extent;
    }
    if (apart > max_apart_) refuse("a thread has too many tiles that lie apart", apart, max_apart_);
    const int64_t registers = kRegistersBesides + registers_of_results(schedule, block, loops);
    const int64_t granted = registers_of_thread(context.device(), threads);
    if (registers > granted)
      refuse("a thread's tile needs more registers than it may have", registers, granted);
  }

  int64_t min_threads_;
  int64_t max_apart_;
};

}  // namespace

TUNESMITH_PLUGIN(
    VerifyLimits, PluginKind::Module, "verify_limits", "0.1.0",
    "finishing: refuse tiles of too few or too many threads, or of more than their registers hold",
    OptionSpec::integer("min_threads", 32, 1, 1024,
                        "threads that share a tile at least, where it has more than 64 results"),
    OptionSpec::integer("max_apart", 8, 1, 1024, "tiles that lie apart (vthread) of one thread, at most"));
