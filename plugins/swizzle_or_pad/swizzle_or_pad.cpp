// Samples the layout of rows in memory with banks for each block that fills such memory: unchanged, padded,
// or swizzled, whichever is legal. The decision is an annotation, which rewrite_swizzle_or_pad implements.
#include <set>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

constexpr const char* kAnnotation = "swizzle_or_pad";
constexpr int64_t kPlain = 0, kPad = 1, kSwizzle = 2;

template <typename Change>
bool is_legal(const Schedule& schedule, const std::string& name, const Change& change) {
  Schedule trial = schedule.clone();
  try {
    change(trial, trial.get_block(name));
  } catch (const ScheduleError&) {
    return false;
  }
  return true;
}

/// Does the block write rows to memory with banks?
bool fills_banks(const Block& block, const ExecutionModel& model) {
  const std::vector<Access> writes = write_accesses(block);
  if (writes.empty() || writes.front().buffer->shape.size() < 2) return false;
  const MemoryScope* scope = model.find_scope(writes.front().buffer->scope);
  return scope != nullptr && scope->banks > 0;
}

class SwizzleOrPad final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleDescription description() const override {
    return {.makes = {kAnnotation}, .partners = {"rewrite_swizzle_or_pad"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    std::vector<std::string> names;
    std::set<std::string>
        filled;  // by several blocks, such as a sum that begins in one and continues in another
    for (const Pointer<Block>& block : schedule.program().blocks()) {
      if (fills_banks(*block, context.execution()) &&
          filled.insert(writes_of(*block).front().buffer->name).second)
        names.push_back(block->name);
    }
    bool applied = false;
    for (const std::string& name : names) {
      std::vector<int64_t> choices{kPlain};
      // Rows that already have a layout keep it.
      if (is_legal(schedule, name, [](Schedule& s, BlockRV b) { s.storage_align(b, 0, -2, 2, 1); }))
        choices.push_back(kPad);
      if (is_legal(schedule, name, [](Schedule& s, BlockRV b) { s.storage_swizzle(b, 0); }))
        choices.push_back(kSwizzle);
      if (choices.size() == 1) continue;
      const std::vector<double> even(choices.size(), 1.0 / static_cast<double>(choices.size()));
      const BlockRV block = schedule.get_block(name);
      schedule.annotate(block, kAnnotation, schedule.sample_categorical(choices, even));
      applied = true;
    }
    if (!applied)
      return ModuleResult::not_applicable("no block fills memory with banks by rows that may move");
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(SwizzleOrPad, PluginKind::Module, "swizzle_or_pad", "0.1.0",
                 "sample whether rows in memory with banks are padded or swizzled");
