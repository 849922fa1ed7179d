// Pipelines loops that begin with copies to shared memory: samples the number of iterations in flight.
// Lowering implements it (instruction software_pipeline).
#include <algorithm>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

/// Identifies a loop by the last block below it: the number of loops around a copy depends on its size.
struct FetchingLoop {
  LoopId id;
  std::string block;
  size_t depth = 0;  // its position among the block's loops
};

/// Does the block fill memory that several threads share?
bool fills_shared_memory(const Block& block, const ExecutionModel& model) {
  const std::vector<Access> writes = write_accesses(block);
  const MemoryScope* scope = writes.empty() ? nullptr : model.find_scope(writes.front().buffer->scope);
  const size_t depth = scope == nullptr ? 0 : model.depth_of(*scope);
  return depth > 0 && depth <= model.first_synchronising();
}

/// The innermost loop around the block that contains other work, too.
Pointer<Loop> loop_around(const Block& block) {
  for (Pointer<Stmt> at = block.parent; at && at->kind != StmtKind::Block; at = at->parent) {
    const Pointer<Loop> loop = at->as<Loop>();
    if (loop && loop->body()->kind == StmtKind::Seq) return loop;
  }
  return nullptr;
}

Block last_block(const Program& program, const Loop& loop) {
  Pointer<Block> last;
  for (const Pointer<Block>& block : program.blocks()) {
    if (is_ancestor(loop, *block) && enclosing_block(*block) == enclosing_block(loop)) last = block;
  }
  return *last;
}

std::vector<FetchingLoop> fetching_loops(const Program& program, const ExecutionModel& model) {
  std::vector<FetchingLoop> found;
  for (const Pointer<Block>& block : program.blocks()) {
    const Pointer<Loop> loop = fills_shared_memory(*block, model) ? loop_around(*block) : nullptr;
    if (loop == nullptr ||
        std::ranges::any_of(found, [&](const FetchingLoop& one) { return one.id == loop->id; }))
      continue;
    const Block last = last_block(program, *loop);
    const std::vector<Pointer<Loop>> around = loops_above(last);
    const auto at = std::ranges::find(around, loop);
    found.push_back({loop->id, last.name, static_cast<size_t>(at - around.begin())});
  }
  return found;
}

class Pipeline final : public TransformationModule {
 public:
  explicit Pipeline(const Options& options) : stages_(options.get_ints("stages")) {
    if (stages_.empty()) options.fail("stages", "expected at least one number of iterations");
  }

  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleDescription description() const override { return {.makes = {"software_pipeline"}}; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const std::vector<double> even(stages_.size(), 1.0 / static_cast<double>(stages_.size()));
    bool applied = false;
    for (const FetchingLoop& found : fetching_loops(schedule.program(), context.execution())) {
      if (!may_be_pipelined(schedule, found)) continue;
      const LoopRV loop = loop_of(schedule, found);
      schedule.software_pipeline(loop, schedule.sample_categorical(stages_, even));
      applied = true;
    }
    if (!applied)
      return ModuleResult::not_applicable("no loop begins with copies to memory that threads share");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  static LoopRV loop_of(Schedule& schedule, const FetchingLoop& found) {
    return schedule.get_loops(schedule.get_block(found.block)).at(found.depth);
  }

  static bool may_be_pipelined(const Schedule& schedule, const FetchingLoop& found) {
    Schedule trial = schedule.clone();
    try {
      trial.software_pipeline(loop_of(trial, found), int64_t{1});
    } catch (const ScheduleError&) {
      return false;
    }
    return true;
  }

  std::vector<int64_t> stages_;
};

}  // namespace

TUNESMITH_PLUGIN(
    Pipeline, PluginKind::Module, "pipeline", "0.1.0",
    "copy to memory that threads share while other iterations compute",
    OptionSpec::integers("stages", {1, 2, 3, 4}, 1, 16,
                         "choices for the iterations that are under way at once; 1 = none ahead"));
