// Distributes copies over the threads of a launch: fuses the loops of a block annotated with
// `cooperative_fetch`; each thread copies the annotated number of contiguous elements, and neighbouring
// threads copy neighbouring pieces. The threads are those that other loops of the nest are bound to.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

constexpr const char* kAnnotation = "cooperative_fetch";

struct ThreadAxis {
  std::string name;
  int64_t extent = 1;
};

/// The synchronising axes to which loops of the nest are bound: outermost level first, the first axis
/// of a level innermost, with the largest extent of its loops. Members of groups are threads, too.
std::vector<ThreadAxis> threads_of(const Stmt& nest, const ExecutionModel& model) {
  const auto outermost_first = [](const ExecutionModel::Axis& a, const ExecutionModel::Axis& b) {
    return a.level != b.level ? a.level < b.level : a.axis > b.axis;
  };
  std::map<ExecutionModel::Axis, int64_t, decltype(outermost_first)> extents(outermost_first);
  walk(nest, [&](const Stmt& stmt) {
    const Pointer<Loop> loop = stmt.as<Loop>();
    if (!loop || loop->loop_kind != LoopKind::Bound) return;
    const auto axis = model.find_axis(loop->thread);
    if (!axis || axis->level < model.first_synchronising()) return;
    int64_t& extent = extents[*axis];
    extent = std::max(extent, loop->const_extent());
    if (const auto members = model.group_axis(axis->level))
      extents[*members] = model.levels[axis->level].group;
  });
  std::vector<ThreadAxis> threads;
  for (const auto& [axis, extent] : extents) threads.push_back({model.axis_name(axis), extent});
  return threads;
}

Stmt nest_of(const Block& block) {
  Pointer<Stmt> at = block.pointer();
  while (at->parent->parent) at = at->parent;
  return *at;
}

/// The loops that contain only the block, outermost first.
std::vector<LoopRV> own_loops(Schedule& schedule, BlockRV block) {
  std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopFacts> facts = schedule.loops_of(block);
  size_t first = loops.size();
  while (first > 0 && facts[first - 1].kind == LoopKind::Serial &&
         (facts[first - 1].only_child == StmtKind::Block || facts[first - 1].only_child == StmtKind::Loop))
    --first;
  loops.erase(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(first));
  return loops;
}

void share_out(Schedule& schedule, BlockRV block, const std::vector<ThreadAxis>& threads, int64_t width) {
  std::vector<LoopRV> loops = own_loops(schedule, block);
  if (loops.empty()) loops.push_back(schedule.add_unit_loop(block));
  const LoopRV all = loops.size() == 1 ? loops.front() : schedule.fuse(loops);
  std::vector<std::optional<IntArg>> factors{std::nullopt};
  for (const ThreadAxis& axis : threads) factors.emplace_back(axis.extent);
  // A single element has no neighbours.
  const int64_t together = schedule.facts(all).extent == 1 ? 1 : width;
  factors.emplace_back(together);
  const std::vector<LoopRV> parts = schedule.split(all, factors);
  // Threads outermost: a thread copies all its elements before it waits for the others.
  std::vector<LoopRV> order(parts.begin() + 1, parts.end() - 1);
  order.push_back(parts.front());
  order.push_back(parts.back());
  schedule.reorder(order);
  for (size_t i = 0; i < threads.size(); ++i) schedule.bind(parts[i + 1], threads[i].name);
  if (together > 1) schedule.vectorize(parts.back());
}

class CooperativeFetch final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleDescription description() const override {
    return {.consumes = {kAnnotation},
            .before = {"rewrite_reduction_init", "rewrite_parallel_vectorize_unroll"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    struct Copy {
      std::string name;
      int64_t width;
      std::vector<ThreadAxis> threads;
    };
    std::vector<Copy> copies;
    // Computed once: distributing a copy binds its loops to axes that the nest already has.
    const Program program = schedule.program();
    for (const Pointer<Block>& block : program.blocks()) {
      if (!block->annotations.contains(kAnnotation)) continue;
      copies.push_back({block->name, block->annotations.find_int(kAnnotation).value(),
                        threads_of(nest_of(*block), context.execution())});
    }
    if (copies.empty()) return ModuleResult::not_applicable("no block is annotated to be fetched together");
    for (const Copy& copy : copies) {
      const BlockRV block = schedule.get_block(copy.name);
      schedule.unannotate(block, kAnnotation);
      if (!copy.threads.empty()) share_out(schedule, block, copy.threads, copy.width);
    }
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(CooperativeFetch, PluginKind::Module, "cooperative_fetch", "0.1.0",
                 "finishing: distribute annotated copies over the threads of their launch");
