// Distributes a reduction over threads: each thread reduces elements at a stride, a few
// threads reduce their results, and one thread the rest, through shared memory. Forks the
// space: the plain and the distributed reduction. Finds levels by their properties: threads
// are the outermost level that synchronises, and the memory is that of the level around them.
#include <algorithm>
#include <optional>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

/// The number of threads that reduce the others' results. Each reduces several, for any total number: the
/// loops of a sketch do not depend on its decisions.
constexpr int64_t kGroup = 16;
constexpr int64_t kMinThreads = 2 * kGroup;

struct Place {
  std::string around;  // the axis that iterations of the result are bound to
  std::string threads;
  std::string scope;  // the memory that the threads within one iteration share
  int64_t most = 0;   // threads
};

std::optional<Place> place_of(const ExecutionModel& model) {
  const size_t first = model.first_synchronising();
  const size_t level = model.levels.size() - 1;
  if (first == 0 || first > level) return std::nullopt;
  if (model.levels[level].axes.empty() || model.levels[first - 1].axes.empty()) return std::nullopt;
  const auto scope = std::ranges::find_if(
      model.scopes, [&](const MemoryScope& candidate) { return model.depth_of(candidate) == first; });
  if (scope == model.scopes.end()) return std::nullopt;
  return Place{model.axis_name({first - 1, 0}), model.axis_name({level, 0}), scope->name,
               std::min(model.levels[level].max_together, model.levels[level].most[0])};
}

class CrossThreadReduction final : public TransformationModule {
 public:
  explicit CrossThreadReduction(const Options& options) : threads_(options.get_ints("threads")) {
    if (threads_.empty()) options.fail("threads", "expected at least one number of threads");
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (block.init() == nullptr || !block.has_reduction())
      return ModuleResult::not_applicable("the block is no reduction");
    if (!is_trivially_bound(block))
      return ModuleResult::not_applicable("another module has transformed the block");
    if (needs_tiling(block)) return ModuleResult::not_applicable("the block reuses what it reads");
    const int64_t steps = iteration_count(block).reduction;
    const std::optional<Place> place = place_of(context.execution());
    if (!place) return ModuleResult::not_applicable("the target has no threads that share memory");
    std::vector<int64_t> threads = threads_;
    std::erase_if(threads, [&](int64_t number) { return 2 * number > steps || number > place->most; });
    if (threads.empty()) return ModuleResult::not_applicable("the reduction is too short");

    std::vector<Schedule> sketches;
    sketches.push_back(schedule.clone());
    sketches.push_back(shared_out(schedule, block_name, *place, threads));
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  /// A block with its loops, those over results first.
  struct Part {
    std::vector<LoopRV> spatial;
    std::vector<LoopRV> reduction;
  };

  static Part part_of(Schedule& schedule, BlockRV block) {
    Part part;
    for (const LoopRV& loop : schedule.get_loops(block)) {
      const bool reduces = schedule.use_of(loop, block).reduction;
      (reduces ? part.reduction : part.spatial).push_back(loop);
    }
    if (part.spatial.empty()) part.spatial.push_back(schedule.add_unit_loop(block));
    std::vector<LoopRV> order = part.spatial;
    order.insert(order.end(), part.reduction.begin(), part.reduction.end());
    schedule.reorder(order);
    return part;
  }

  static LoopRV fused(Schedule& schedule, const std::vector<LoopRV>& loops) {
    return loops.size() == 1 ? loops.front() : schedule.fuse(loops);
  }

  /// Factors partial results, one for each of `width` threads, into shared memory.
  /// Returns the block that computes them, whose last loop is over the threads.
  static BlockRV factor(Schedule& schedule, BlockRV block, IntArg width, const Place& place) {
    const Part part = part_of(schedule, block);
    const LoopRV steps = fused(schedule, part.reduction);
    const std::vector<LoopRV> parts = schedule.split(steps, {std::nullopt, width});
    const BlockRV partial = schedule.rfactor(parts[1], -1);
    schedule.set_scope(partial, 0, place.scope);
    return partial;
  }

  static Schedule shared_out(const Schedule& base, const std::string& block_name, const Place& place,
                             const std::vector<int64_t>& threads) {
    Schedule schedule = base.clone();
    const BlockRV block = schedule.get_block(block_name);
    const std::vector<double> even(threads.size(), 1.0 / static_cast<double>(threads.size()));
    const IntRV width = schedule.sample_categorical(threads, even);
    const BlockRV each = factor(schedule, block, width, place);
    const BlockRV few = factor(schedule, block, kGroup, place);
    std::vector<LoopRV> together;
    for (const BlockRV part : {each, few}) {
      std::vector<LoopRV> loops = schedule.get_loops(part);
      schedule.reorder({loops.back(), loops[loops.size() - 2]});
      schedule.bind(loops.back(), place.threads);
      loops.resize(loops.size() - 2);
      together.push_back(loops.back());
    }
    const Part last = part_of(schedule, block);
    together.push_back(last.spatial.back());
    schedule.merge(together);
    const std::vector<LoopRV> around = schedule.get_loops(each);
    schedule.bind(fused(schedule, {around.begin(), around.end() - 2}), place.around);
    return schedule;
  }

  std::vector<int64_t> threads_;
};

}  // namespace

TUNESMITH_PLUGIN(
    CrossThreadReduction, PluginKind::Module, "cross_thread_reduction", "0.1.0",
    "distribute reductions without reuse over threads",
    OptionSpec::integers("threads", {32, 64, 128, 256, 512}, kMinThreads, 1024,
                         "choices of the number of threads per reduction; each runs at least two steps"));
