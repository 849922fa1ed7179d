// Factors a reduction: partial results in parallel (or in the lanes of a vector), combined by a second
// block. A reduction that reuses what it reads is only factored if it has too little spatial work. Forks
// the space: the plain reduction, and the reduction factored over its outer and over its inner part.
#include <bit>
#include <optional>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class AddRfactor final : public TransformationModule {
 public:
  explicit AddRfactor(const Options& options)
      : max_jobs_per_core_(options.get_int("max_jobs_per_core")),
        max_innermost_(options.get_int("max_innermost")) {}

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (block.init() == nullptr || !block.has_reduction())
      return ModuleResult::not_applicable("the block is no reduction");
    if (!is_trivially_bound(block))
      return ModuleResult::not_applicable("another module has transformed the block");
    const IterationCount count = iteration_count(block);
    if (count.reduction == 1) return ModuleResult::not_applicable("the reduction is a single step");
    const std::vector<int64_t> inner = inner_parts(count.reduction);
    if (inner.empty()) return ModuleResult::not_applicable("the reduction is too short to be cut");
    if (needs_tiling(block)) {
      const auto jobs = max_jobs_per_core_ * static_cast<int64_t>(context.device().get("cores"));
      if (count.spatial > jobs)
        return ModuleResult::not_applicable("there is enough spatial work to run in parallel");
      if (count.spatial >= count.reduction)
        return ModuleResult::not_applicable("the reduction is shorter than the spatial work");
    }

    std::vector<Schedule> sketches;
    sketches.push_back(schedule.clone());
    for (const size_t part : {size_t{0}, size_t{1}})
      sketches.push_back(factored(schedule, block_name, part, inner));
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  /// Inner lengths that leave work for both parts: the divisors of the
  /// reduction; powers of two, with a masked remainder, if it has none.
  std::vector<int64_t> inner_parts(int64_t reduction) const {
    std::vector<int64_t> dividing;
    std::vector<int64_t> powers;
    for (int64_t part = 2; part <= max_innermost_ && 2 * part <= reduction; ++part) {
      if (reduction % part == 0) dividing.push_back(part);
      if (std::has_single_bit(static_cast<uint64_t>(part))) powers.push_back(part);
    }
    return dividing.empty() ? powers : dividing;
  }

  static Schedule factored(const Schedule& base, const std::string& block_name, size_t part,
                           const std::vector<int64_t>& inner) {
    Schedule schedule = base.clone();
    const BlockRV block = schedule.get_block(block_name);
    std::vector<LoopRV> spatial;
    std::vector<LoopRV> reduction;
    for (const LoopRV& loop : schedule.get_loops(block)) {
      (schedule.use_of(loop, block).reduction ? reduction : spatial).push_back(loop);
    }
    std::vector<LoopRV> order = spatial;
    order.insert(order.end(), reduction.begin(), reduction.end());
    if (order.size() > 1) schedule.reorder(order);
    const LoopRV fused = reduction.size() > 1 ? schedule.fuse(reduction) : reduction.front();
    const std::vector<double> uniform(inner.size(), 1.0 / static_cast<double>(inner.size()));
    const IntRV length = schedule.sample_categorical(inner, uniform);
    const std::vector<LoopRV> parts = schedule.split(fused, {std::nullopt, length});
    const int axis = static_cast<int>(spatial.size());
    schedule.rfactor(parts[part], axis);
    return schedule;
  }

  int64_t max_jobs_per_core_;
  int64_t max_innermost_;
};

}  // namespace

TUNESMITH_PLUGIN(
    AddRfactor, PluginKind::Module, "add_rfactor", "0.1.0",
    "factor reductions that have too little spatial work",
    OptionSpec::integer("max_jobs_per_core", 16, 1, 4096,
                        "tiled reductions with more spatial iterations for each core are left alone"),
    OptionSpec::integer("max_innermost", 64, 1, 1024, "largest inner part of the reduction, in iterations"));
