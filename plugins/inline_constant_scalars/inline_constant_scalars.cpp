// Inlines blocks that write one constant element, wherever it is read.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class InlineConstantScalars final : public TransformationModule {
 public:
  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& /*context*/) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (block.init() != nullptr || !reads_of(block).empty())
      return ModuleResult::not_applicable("the block reads something");
    if (writes_output(schedule.program(), block))
      return ModuleResult::not_applicable("the block writes an output");
    const std::vector<Access> writes = writes_of(block);
    if (writes.size() != 1 || writes.front().buffer->elements() != 1) {
      return ModuleResult::not_applicable("the block writes more than one element");
    }
    schedule.compute_inline(schedule.get_block(block_name));
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(InlineConstantScalars, PluginKind::Module, "inline_constant_scalars", "0.1.0",
                 "inline blocks that write one constant");
