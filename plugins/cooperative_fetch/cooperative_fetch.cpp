// Shares copies out over the threads of a launch: of a block annotated with `cooperative_fetch`, the loops
// become one, each thread copies as many neighbouring elements as the annotation says, and neighbouring
// threads copy neighbouring pieces. The threads are those that other loops of the nest are bound to.
#include <algorithm>
#include <map>
#include <optional>

#include <tunesmith/ir/visit.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

constexpr const char* kAnnotation = "cooperative_fetch";

struct ThreadAxis {
  std::string name;
  int64_t extent = 1;
};

/// Of levels that synchronise, to which loops of the nest are bound: outermost first, the first axis of a
/// level innermost, with the largest extent of its loops. The members of groups are threads, too.
std::vector<ThreadAxis> threads_of(const Stmt& nest, const ExecutionModel& model) {
  const auto outermost_first = [](const ExecutionModel::Axis& a, const ExecutionModel::Axis& b) {
    return a.level != b.level ? a.level < b.level : a.axis > b.axis;
  };
  std::map<ExecutionModel::Axis, int64_t, decltype(outermost_first)> extents(outermost_first);
  for (const Loop* loop : collect<Loop>(nest)) {
    const auto axis = loop->loop_kind == LoopKind::Bound ? model.find_axis(loop->thread) : std::nullopt;
    if (!axis || axis->level < model.first_synchronising()) continue;
    int64_t& extent = extents[*axis];
    extent = std::max(extent, loop->const_extent());
    if (const auto members = model.group_axis(axis->level))
      extents[*members] = model.levels[axis->level].group;
  }
  std::vector<ThreadAxis> threads;
  for (const auto& [axis, extent] : extents) threads.push_back({model.axis_name(axis), extent});
  return threads;
}

const Stmt& nest_of(const Block& block) {
  const Stmt* at = &block;
  while (at->parent->parent != nullptr) at = at->parent;
  return *at;
}

/// The loops that hold the block alone, outermost first.
std::vector<LoopRV> own_loops(Schedule& schedule, BlockRV block) {
  std::vector<LoopRV> loops = schedule.get_loops(block);
  const Stmt* inside = &schedule.block(block);
  size_t first = loops.size();
  while (first > 0) {
    const Loop& loop = schedule.loop(loops[first - 1]);
    if (loop.body() != inside || loop.loop_kind != LoopKind::Serial) break;
    inside = &loop;
    --first;
  }
  loops.erase(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(first));
  return loops;
}

void share_out(Schedule& schedule, BlockRV block, const std::vector<ThreadAxis>& threads, int64_t width) {
  std::vector<LoopRV> loops = own_loops(schedule, block);
  if (loops.empty()) loops.push_back(schedule.add_unit_loop(block));
  const LoopRV all = loops.size() == 1 ? loops.front() : schedule.fuse(loops);
  std::vector<std::optional<IntArg>> factors{std::nullopt};
  for (const ThreadAxis& axis : threads) factors.emplace_back(axis.extent);
  factors.emplace_back(width);
  const std::vector<LoopRV> parts = schedule.split(all, factors);
  // Threads outermost: a thread copies all that is its own before it waits for the others.
  std::vector<LoopRV> order(parts.begin() + 1, parts.end() - 1);
  order.push_back(parts.front());
  order.push_back(parts.back());
  schedule.reorder(order);
  for (size_t i = 0; i < threads.size(); ++i) schedule.bind(parts[i + 1], threads[i].name);
  if (width > 1) schedule.vectorize(parts.back());
}

class CooperativeFetch final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleDescription description() const override {
    return {.consumes = {kAnnotation},
            .before = {"rewrite_reduction_init", "rewrite_parallel_vectorize_unroll"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    std::vector<std::string> names;
    for (const Block* block : schedule.program().blocks()) {
      if (block->annotations.contains(kAnnotation)) names.push_back(block->name);
    }
    if (names.empty()) return ModuleResult::not_applicable("no block is annotated to be fetched together");
    for (const std::string& name : names) {
      const BlockRV block = schedule.get_block(name);
      const Block& copy = schedule.block(block);
      const auto width = std::get<int64_t>(copy.annotations.at(kAnnotation));
      schedule.unannotate(block, kAnnotation);
      const std::vector<ThreadAxis> threads = threads_of(nest_of(copy), context.execution());
      if (!threads.empty()) share_out(schedule, block, threads, width);
    }
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(CooperativeFetch, PluginKind::Module, "cooperative_fetch", "0.1.0",
                 "finishing: share annotated copies out over the threads of their launch");
