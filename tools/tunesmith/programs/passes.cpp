#include "passes.h"

#include <algorithm>

#include <fmt/format.h>

#include <tunesmith/affine/simplify.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/support/error.h>

namespace tunesmith::cli {
namespace {

constexpr std::string_view kSimplify = "simplify";
/// The printed text of a program lacks this step's findings about blocks.
constexpr std::string_view kFirstStep = "lower_blocks";

struct KnownPass {
  std::string_view name;
  std::string_view help;
  bool needs_blocks = false;
};

constexpr KnownPass kKnown[] = {
    {"lower_blocks", "replaces blocks by their bodies, iterators by their bindings, and inits by conditions"},
    {"split_buffers", "splits a buffer whose accesses share no elements", true},
    {"split_prepare", "moves computations on constant inputs into a separate program", true},
    {"join_threads", "fuses thread-bound loops into one loop around the launch, with barriers", true},
    {"place_buffers", "allocates intermediates at their uses and shrinks them to the used region", true},
    {"double_buffers", "double-buffers annotated buffers, filled one iteration ahead", true},
    {"pipeline_loops", "pipelines copies into shared buffers, asynchronously and iterations ahead", true},
    {"close_gaps", "compacts parts of a tile that are far apart in memory", true},
    {"bound_tiles", "limits loops to varying extents, and runs full tiles without checks"},
    {"tighten_loops", "turns conditions that bound a loop into its range"},
    {"mask_loads", "turns the condition of a select that guards loads into their mask"},
    {"mask_accumulations", "turns a guard around an accumulation into the mask of its store"},
    {"flatten", "flattens accesses to one index, the element's offset"},
    {"call_intrinsics", "replaces tensorized loop nests by calls of their intrinsics"},
    {"vectorize_loops", "turns vectorized loops into vector expressions"},
    {"hoist_conditions", "hoists loop-invariant conditions"},
    {"assign_registers", "moves local buffers into registers where possible"},
    {"unmask_registers", "stores to register buffers without masks"},
    {"promote_accumulators", "moves accumulators of reductions into registers"},
    {"remove_unit_loops", "removes loops of one iteration"},
    {"plan_memory", "lays out and checks workspace and stack"},
    {"plan_scopes", "lays out and checks the memory scopes of levels"},
    {"lay_out_prepared", "lays out the results of the preparation"},
};

const KnownPass* find_known(std::string_view name) {
  const auto* found = std::ranges::find(kKnown, name, &KnownPass::name);
  return found == std::end(kKnown) ? nullptr : found;
}

/// Simplifies every expression, given the ranges of its loops and conditions.
void simplify_all(Program& program) {
  walk(program.root(), [](Stmt& stmt) {
    const Analyzer analyzer = Analyzer::at(stmt);
    visit_exprs(stmt, [&](Expr& expr) { expr = analyzer.simplify(expr); });
  });
}

}  // namespace

std::string text_of(const LoweredProgram& lowered) {
  std::string text;
  if (lowered.prepare)
    text = fmt::format("# once, for constant inputs\n{}\n", to_string(lowered.prepare->program));
  return text + to_string(lowered.program);
}

std::vector<ProgramPass> program_passes(const Pipeline& pipeline) {
  std::vector<ProgramPass> passes = {
      {std::string(kSimplify), "puts expressions into canonical form, using the ranges of enclosing loops"}};
  for (const LoweringStep& step : pipeline.steps()) {
    const KnownPass* known = find_known(step.name);
    passes.push_back({step.name, known == nullptr ? "" : std::string(known->help)});
  }
  return passes;
}

PassRunner::PassRunner(const Program& program, const LowerOptions& options, const Pipeline& pipeline)
    : pipeline_(pipeline), state_(program, options) {}

const LoweringStep& PassRunner::step(const std::string& name) const {
  const std::vector<LoweringStep>& steps = pipeline_.steps();
  const auto found = std::ranges::find(steps, name, &LoweringStep::name);
  if (found != steps.end()) return *found;
  std::vector<std::string> names;
  for (const ProgramPass& pass : program_passes(pipeline_)) names.push_back(pass.name);
  throw UserError(fmt::format("unknown pass '{}'", name), suggest(name, names));
}

void PassRunner::run(const std::string& name) {
  if (name == kSimplify) return simplify_all(state_.lowered.program);
  const LoweringStep& pass = step(name);
  const KnownPass* known = find_known(name);
  // A target's own step may need the findings, too.
  if ((known == nullptr || known->needs_blocks) && !knows_blocks_) {
    throw UserError(
        fmt::format("{} needs the results of {}, which are not part of a program's text", name, kFirstStep),
        fmt::format("run {} before it, or use --until {}", kFirstStep, name));
  }
  try {
    pass.run(state_);
  } catch (const LowerError& refusal) {
    throw UserError(refusal.what());
  }
  if (name == kFirstStep) knows_blocks_ = true;
}

void PassRunner::run_until(const std::string& name) {
  const LoweringStep& last = step(name);
  for (const LoweringStep& one : pipeline_.steps()) {
    run(one.name);
    if (&one == &last) return;
  }
}

}  // namespace tunesmith::cli
