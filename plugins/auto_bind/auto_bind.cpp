// Binds the loops that no earlier module has bound to the levels of a device: fuses
// the outermost spatial loops of every nest and distributes them over the threads of
// a block and over blocks. Finds the levels by their properties and not by names:
// threads are the outermost level that synchronises, blocks the level around it.
#include <algorithm>
#include <optional>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

struct Axes {
  std::string blocks;  // "" if there is no level around the threads
  std::string threads;
  int64_t most = 0;  // maximum number of threads in a block
};

std::optional<Axes> axes_of(const ExecutionModel& model) {
  const size_t first = model.first_synchronising();
  const size_t level = model.levels.size() - 1;
  if (first > level || model.levels[level].axes.empty()) return std::nullopt;
  Axes axes;
  axes.threads = model.axis_name({level, 0});
  axes.most = std::min(model.levels[level].max_together, model.levels[level].most[0]);
  if (first > 0 && !model.levels[first - 1].axes.empty()) axes.blocks = model.axis_name({first - 1, 0});
  return axes;
}

bool holds_bound_loop(const Stmt& nest) {
  return find_first<Loop>(nest, [](const Loop& loop) { return loop.loop_kind == LoopKind::Bound; }) !=
         nullptr;
}

class AutoBind final : public TransformationModule {
 public:
  explicit AutoBind(const Options& options) : threads_(options.get_ints("threads")) {
    if (threads_.empty()) options.fail("threads", "expected at least one number of threads");
  }

  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const std::optional<Axes> axes = axes_of(context.execution());
    if (!axes) return ModuleResult::not_applicable("the target has no level that synchronises");
    std::vector<std::string> first_blocks;
    for (const Pointer<Stmt>& nest : schedule.program().root().children()) {
      const Pointer<Block> first = find_first<Block>(*nest);
      if (first && nest->kind == StmtKind::Loop && !holds_bound_loop(*nest))
        first_blocks.push_back(first->name);
    }
    bool applied = false;
    for (const std::string& name : first_blocks) applied = bind_nest(schedule, name, *axes) || applied;
    if (!applied) return ModuleResult::not_applicable("every nest is bound, or may not be");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// The loops of the nest that may be fused, outermost first.
  static std::vector<LoopRV> outer_spatial(Schedule& schedule, const std::string& name) {
    std::vector<LoopRV> loops;
    for (const LoopRV& rv : schedule.get_loops(schedule.get_block(name))) {
      const LoopFacts loop = schedule.facts(rv);
      if (loop.use.reduction || loop.use.opaque || loop.kind != LoopKind::Serial) break;
      loops.push_back(rv);
      if (loop.only_child != StmtKind::Loop) break;
    }
    return loops;
  }

  bool bind_nest(Schedule& schedule, const std::string& name, const Axes& axes) const {
    Schedule looked = schedule.clone();
    // Inner loops may contain data that their iterations share: then binds the outer loops without them.
    for (size_t count = outer_spatial(looked, name).size(); count > 0; --count) {
      for (const bool together : {true, false}) {
        Schedule tried = schedule.clone();
        std::vector<LoopRV> loops = outer_spatial(tried, name);
        loops.resize(count);
        try {
          together ? share_out(tried, fused(tried, loops), axes) : bind_apart(tried, loops, axes);
        } catch (const ScheduleError&) {
          continue;
        }
        schedule = std::move(tried);
        return true;
      }
    }
    return false;
  }

  static LoopRV fused(Schedule& schedule, const std::vector<LoopRV>& loops) {
    return loops.size() == 1 ? loops.front() : schedule.fuse(loops);
  }

  /// If no number of threads divides the loops in a provably
  /// legal way, binds the innermost loop to threads unchanged.
  static void bind_apart(Schedule& schedule, std::vector<LoopRV> loops, const Axes& axes) {
    const LoopRV threads = loops.back();
    loops.pop_back();
    if (!loops.empty() && !axes.blocks.empty()) schedule.bind(fused(schedule, loops), axes.blocks);
    schedule.bind(threads, axes.threads);
  }

  void share_out(Schedule& schedule, LoopRV loop, const Axes& axes) const {
    const int64_t extent = schedule.facts(loop).extent;
    std::vector<int64_t> choices;
    for (const int64_t threads : threads_) {
      if (threads <= std::min(axes.most, extent)) choices.push_back(threads);
    }
    // Fewer iterations than any choice: one block. Lowering refuses it if they are too many.
    if (axes.blocks.empty() || choices.empty()) return schedule.bind(loop, axes.threads);
    const std::vector<double> even(choices.size(), 1.0 / static_cast<double>(choices.size()));
    const IntRV threads = schedule.sample_categorical(choices, even);
    const std::vector<LoopRV> parts = schedule.split(loop, {std::nullopt, threads});
    schedule.bind(parts[0], axes.blocks);
    schedule.bind(parts[1], axes.threads);
  }

  std::vector<int64_t> threads_;
};

}  // namespace

TUNESMITH_PLUGIN(AutoBind, PluginKind::Module, "auto_bind", "0.1.0",
                 "bind the outermost spatial loops of nests that are not bound yet to blocks and threads",
                 OptionSpec::integers("threads", {32, 64, 128, 256, 512, 1024}, 1, 1024,
                                      "choices of the number of threads per block"));
