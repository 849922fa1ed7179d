#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "space/composition.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// A sketch's random stream depends only on its origin.
constexpr uint64_t kSketchSeed = 0x736b65746368ULL;

/// A schedule on its way through the modules, with the blocks claimed so far.
struct Branch {
  Schedule schedule;
  Claims claims;
  std::vector<SketchStep> steps;
  size_t allowance;  // how many branches it may become, if not all combinations are made
};

/// The maximum number of blocks in all sketches of a program: more take minutes and gigabytes.
constexpr size_t kMaxBlocks = 8192;

/// The maximum number of sketches of a program.
size_t max_sketches(const SpaceSpec& spec, const Program& program) {
  return std::min(static_cast<size_t>(spec.max_sketches),
                  std::max<size_t>(1, kMaxBlocks / program.blocks().size()));
}

/// Thrown if the combinations exceed the limits of a space.
struct TooManyBranches {};

/// How many combinations to make: all, or, for programs with many blocks, a share.
enum class Combinations { All, Share };

class Generator {
 public:
  Generator(const ModuleInputs& inputs, const SpaceSpec& spec, Combinations combinations,
            std::vector<ModuleEvent>& events)
      : surroundings_(inputs),
        spec_(spec),
        max_(max_sketches(spec, inputs.original)),
        combinations_(combinations),
        events_(events) {}

  /// Applies a Block module to the blocks of a branch, the last one first.
  void visit_blocks(const ComposedModule& module, Branch branch, std::vector<Branch>& out) {
    std::vector<std::string> names;
    for (const Block* block : branch.schedule.program().blocks()) names.push_back(block->name);
    visit(module, std::move(branch), std::move(names), out);
  }

  void visit_root(const ComposedModule& module, Branch branch, std::vector<Branch>& out) {
    for (Branch& next : apply(module, std::move(branch), "")) out.push_back(std::move(next));
  }

 private:
  void visit(const ComposedModule& module, Branch branch, std::vector<std::string> names,
             std::vector<Branch>& out) {
    while (!names.empty() && branch.schedule.program().find_block(names.back()) == nullptr) names.pop_back();
    if (names.empty()) {
      out.push_back(std::move(branch));
      return;
    }
    const std::string block = names.back();
    names.pop_back();
    for (Branch& next : apply(module, std::move(branch), block)) visit(module, std::move(next), names, out);
  }

  std::vector<Branch> apply(const ComposedModule& module, Branch branch, const std::string& block) {
    std::vector<Branch> next;
    if (const auto claim = branch.claims.find(block);
        claim != branch.claims.end() && claim->second.module != module.id) {
      log({module.id, block, ModuleResult::Status::NotApplicable,
           "claimed by " + claim->second.module + ": " + claim->second.why, 0, 1});
      next.push_back(std::move(branch));
      return next;
    }
    branch.schedule.reseed(RandomStream(kSketchSeed, hash_bytes(module.id + "/" + block)));
    Claims claims = branch.claims;
    auto answered = apply_module(module, branch.schedule, block, surroundings_, claims);
    ModuleResult result =
        answered ? std::move(*answered) : ModuleResult::not_applicable(refusal_text(answered.error()));
    const size_t forks = result.schedules().size();
    const bool applied = result.status() == ModuleResult::Status::Applied;
    if (applied && std::cmp_greater(forks, spec_.max_sketches)) throw forks_too_much(module, block, forks);
    const size_t kept = combinations_ == Combinations::All ? forks : std::min(forks, branch.allowance);
    std::string reason = result.reason();
    if (kept < forks)
      reason = fmt::format("more than {} combinations of them: sketches use one at a time", max_);
    log({module.id, block, result.status(), std::move(reason), forks, 1});
    if (!applied) {
      next.push_back(std::move(branch));
      return next;
    }
    branches_ += kept - 1;
    if (branches_ > max_) throw TooManyBranches{};
    // Rotates the omitted forks from branch to branch, so that each is in some sketch.
    const size_t first = kept < forks ? turn_++ : 0;
    for (size_t i = 0; i < kept; ++i) {
      Schedule& schedule = result.schedules()[(first + i * forks / kept) % forks];
      std::vector<SketchStep> steps = branch.steps;
      steps.push_back({module.id, block, branch.schedule.trace().size(), schedule.trace().size()});
      const size_t allowance = branch.allowance / kept + (i < branch.allowance % kept ? 1 : 0);
      next.push_back({std::move(schedule), claims, std::move(steps), allowance});
    }
    return next;
  }

  PluginError forks_too_much(const ComposedModule& module, const std::string& block, size_t forks) const {
    return {PluginKind::Module, module.id,
            fmt::format("it returns {} schedules for {}, more than max_sketches: {}; return fewer, or raise "
                        "max_sketches of space '{}'",
                        forks, block.empty() ? "the program" : "block '" + block + "'", spec_.max_sketches,
                        spec_.name)};
  }

  void log(const ModuleEvent& event) {
    const auto same = std::find_if(events_.begin(), events_.end(), [&](const ModuleEvent& other) {
      return other.module == event.module && other.block == event.block && other.status == event.status &&
             other.reason == event.reason && other.forks == event.forks;
    });
    if (same != events_.end()) {
      ++same->count;
    } else {
      events_.push_back(event);
    }
  }

  const ModuleInputs& surroundings_;
  const SpaceSpec& spec_;
  const size_t max_;  // maximum number of branches
  const Combinations combinations_;
  size_t branches_ = 1;
  size_t turn_ = 0;
  std::vector<ModuleEvent>& events_;
};

std::vector<Branch> grow(Generator& generator, std::span<const ComposedModule> modules, Branch root) {
  std::vector<Branch> branches;
  branches.push_back(std::move(root));
  for (const ModuleStage stage : {ModuleStage::Block, ModuleStage::Root}) {
    for (const ComposedModule& module : modules) {
      if (module.stage != stage) continue;
      std::vector<Branch> next;
      for (Branch& branch : branches) {
        if (stage == ModuleStage::Block) {
          generator.visit_blocks(module, std::move(branch), next);
        } else {
          generator.visit_root(module, std::move(branch), next);
        }
      }
      branches = std::move(next);
    }
  }
  return branches;
}

}  // namespace

SketchSet Space::generate(const Program& program) const {
  SketchSet set;
  const ModuleInputs inputs{state_->device, state_->lower_options.execution, state_->intrinsics, program};
  const auto all_branches = [&](Combinations combinations) {
    set.events.clear();
    Generator generator(inputs, state_->spec, combinations, set.events);
    Branch root{Schedule(program, RandomStream(0), state_->all_intrinsics),
                {},
                {},
                max_sketches(state_->spec, program)};
    return grow(generator, state_->modules, std::move(root));
  };
  std::vector<Branch> branches;
  try {
    branches = all_branches(Combinations::All);
  } catch (const TooManyBranches&) {
    branches = all_branches(Combinations::Share);
  }
  std::set<uint64_t> seen;
  for (Branch& branch : branches) {
    if (seen.insert(branch.schedule.trace().with_open_decisions().hash()).second) {
      set.sketches.push_back(std::move(branch.schedule));
      set.steps.push_back(std::move(branch.steps));
    }
  }
  return set;
}

}  // namespace tunesmith
