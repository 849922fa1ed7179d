// Applies the decisions of swizzle_or_pad. In padded rows, the distance is an odd
// multiple of one access, so that pieces of neighbouring rows lie in different banks.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

constexpr const char* kAnnotation = "swizzle_or_pad";
constexpr int64_t kPad = 1, kSwizzle = 2;

class RewriteSwizzleOrPad final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleDescription description() const override {
    return {.consumes = {kAnnotation},
            .before = {"cooperative_fetch", "rewrite_reduction_init", "rewrite_parallel_vectorize_unroll"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    std::vector<std::string> names;
    for (const BlockFacts& block : schedule.blocks()) {
      if (schedule.annotation(block.id, kAnnotation)) names.push_back(block.name);
    }
    if (names.empty()) return ModuleResult::not_applicable("no block is annotated to be padded or swizzled");
    const auto access_bytes = static_cast<int64_t>(context.device().get_or("access_bytes", 16));
    for (const std::string& name : names) {
      const BlockRV block = schedule.get_block(name);
      const auto decision = *schedule.annotation(schedule.id(block), kAnnotation);
      const int64_t element = schedule.write_accesses(block).front().buffer->dtype.bytes();
      schedule.unannotate(block, kAnnotation);
      const int64_t piece = access_bytes / element;
      if (decision == kPad) schedule.storage_align(block, 0, -2, 2 * piece, piece);
      if (decision == kSwizzle) schedule.storage_swizzle(block, 0);
    }
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(RewriteSwizzleOrPad, PluginKind::Module, "rewrite_swizzle_or_pad", "0.1.0",
                 "finishing: pad or swizzle rows in memory with banks as was sampled");
