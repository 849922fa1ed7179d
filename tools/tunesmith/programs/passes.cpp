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
    {"lower_blocks", "blocks become their bodies, iterators what they are bound to, inits conditions"},
    {"split_buffers", "a buffer whose accesses share no element becomes several", true},
    {"split_prepare", "what depends on constant inputs alone becomes a program of its own", true},
    {"join_threads", "loops bound to threads become one around all that a launch does, with barriers", true},
    {"place_buffers", "intermediates are allocated where they are needed, and shrink to what is used there",
     true},
    {"double_buffers", "buffers that are to be double get two halves, filled one iteration ahead", true},
    {"pipeline_loops", "what fills shared buffers runs iterations ahead, asynchronously", true},
    {"close_gaps", "parts of a tile that lie far apart move together", true},
    {"bound_tiles", "loops end where elements that vary do, and whole tiles are done without asking"},
    {"tighten_loops", "conditions that bound a loop become its range"},
    {"mask_loads", "loads that a select guards get its condition as their mask"},
    {"mask_accumulations", "a guard around an accumulation becomes the mask of its store"},
    {"flatten", "each access gets one index, the element's offset"},
    {"call_intrinsics", "nests that are tensorized become calls of their intrinsics"},
    {"vectorize_loops", "vectorized loops become vector expressions"},
    {"hoist_conditions", "conditions that stay the same move out of loops"},
    {"assign_registers", "local buffers move into registers where they can"},
    {"unmask_registers", "register buffers are stored to without masks"},
    {"promote_accumulators", "accumulators of reductions move into registers"},
    {"remove_unit_loops", "loops of one iteration become their bodies"},
    {"plan_memory", "workspace and stack are laid out and checked"},
    {"plan_scopes", "memories that levels own are laid out and checked"},
    {"lay_out_prepared", "what the preparation makes gets its places"},
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
      {std::string(kSimplify), "each expression in canonical form, by the ranges of the loops around it"}};
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
  throw UserError(fmt::format("there is no pass '{}'", name), suggest(name, names));
}

void PassRunner::run(const std::string& name) {
  if (name == kSimplify) return simplify_all(state_.lowered.program);
  const LoweringStep& pass = step(name);
  const KnownPass* known = find_known(name);
  // A target's own step may need the findings, too.
  if ((known == nullptr || known->needs_blocks) && !knows_blocks_) {
    throw UserError(
        fmt::format("{} needs what {} finds out about blocks, which no text says", name, kFirstStep),
        fmt::format("name {} before it, or --until {}", kFirstStep, name));
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
