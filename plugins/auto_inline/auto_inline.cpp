// Inlines elementwise blocks into their consumers, so that their results need no memory.
#include <algorithm>
#include <array>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class AutoInline final : public TransformationModule {
 public:
  explicit AutoInline(const Options& options)
      : allow_select_(options.get_bool("allow_select")),
        costly_(options.get_bool("inline_costly")),
        repeat_arithmetic_(options.get_bool("repeat_arithmetic")) {}

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (writes_output(schedule.program(), block))
      return ModuleResult::not_applicable("the block writes an output");
    if (block.init() != nullptr) return ModuleResult::not_applicable("the block is a reduction");
    if (!is_elementwise(block))
      return ModuleResult::not_applicable("the block does not write one element for each iteration");
    const bool in_threads = context.execution().first_synchronising() < context.execution().levels.size();
    const bool may_choose = allow_select_ || (in_threads && only_elementwise_read(schedule.program(), block));
    if (!may_choose && any_of_exprs(block, [](const Expr& part) { return part.is(ExprKind::Select); })) {
      return ModuleResult::not_applicable(
          "the block chooses by a condition, which would be tested in the consumer's inner loop");
    }
    if (!costly_ && any_of_exprs(block, [](const Expr& part) { return part.is(ExprKind::Call); }) &&
        repeated(schedule.program(), block)) {
      return ModuleResult::not_applicable(
          "the block computes a costly function that its consumer would repeat");
    }
    if (!repeat_arithmetic_ && computes(block) && is_read_again(schedule.program(), block))
      return ModuleResult::not_applicable(
          "a reduction would compute each of the block's elements more than once");
    schedule.compute_inline(schedule.get_block(block_name));
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// Would inlining compute an element more than once?
  static bool repeated(const Program& program, const Block& block) {
    const std::vector<Pointer<Block>> consumers = consumers_of(program, block);
    return consumers.size() != 1 || consumers.front()->has_reduction() ||
           iteration_count(*consumers.front()).spatial > iteration_count(block).spatial;
  }

  /// Threads test a condition once for each element then.
  static bool only_elementwise_read(const Program& program, const Block& block) {
    return std::ranges::all_of(consumers_of(program, block),
                               [](const Pointer<Block>& consumer) { return is_elementwise(*consumer); });
  }

  /// Does the block compute, and not only move elements?
  static bool computes(const Block& block) {
    return any_of_exprs(*block.body(), [](const Expr& part) {
      constexpr std::array kArithmetic = {ExprKind::Add, ExprKind::Sub, ExprKind::Mul, ExprKind::Div,
                                          ExprKind::Min, ExprKind::Max, ExprKind::Call};
      return std::ranges::find(kArithmetic, part.kind()) != kArithmetic.end() && !part.dtype().is_index();
    });
  }

  /// Does a reduction read an element more than once?
  static bool is_read_again(const Program& program, const Block& block) {
    return std::ranges::any_of(consumers_of(program, block), [&](const Pointer<Block>& consumer) {
      const IterationCount count = iteration_count(*consumer);
      return consumer->has_reduction() && count.spatial * count.reduction > iteration_count(block).spatial;
    });
  }

  bool allow_select_;
  bool costly_;
  bool repeat_arithmetic_;
};

}  // namespace

TUNESMITH_PLUGIN(
    AutoInline, PluginKind::Module, "auto_inline", "0.1.0", "inline elementwise blocks into their consumers",
    OptionSpec::boolean("allow_select", false, "also inline blocks with a select, such as padding"),
    OptionSpec::boolean("inline_costly", false,
                        "also inline exp, log, ... into consumers that would repeat them"),
    OptionSpec::boolean("repeat_arithmetic", true,
                        "also inline arithmetic into reductions that read an element more than once"));
