#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "space/composition.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// Sketches are drawn with a stream that depends on where they came from, and on nothing else.
constexpr uint64_t kSketchSeed = 0x736b65746368ULL;

/// A schedule on its way through the modules, with the blocks that were claimed on that way.
struct Branch {
  Schedule schedule;
  Claims claims;
  std::vector<SketchStep> steps;
};

class Generator {
 public:
  Generator(const ModuleInputs& inputs, const SpaceSpec& spec, std::vector<ModuleEvent>& events)
      : surroundings_(inputs), spec_(spec), events_(events) {}

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
    log({module.id, block, result.status(), result.reason(), result.schedules().size(), 1});
    if (result.status() != ModuleResult::Status::Applied) {
      next.push_back(std::move(branch));
      return next;
    }
    branches_ += result.schedules().size() - 1;
    if (const auto max = static_cast<size_t>(spec_.max_sketches); branches_ > max) {
      throw PluginError(
          PluginKind::Module, module.id,
          fmt::format("it makes {} schedules of {}, and the space has more than max_sketches: {} then; fork "
                      "less, or write more at the space '{}'",
                      result.schedules().size(), block.empty() ? "the program" : "block '" + block + "'", max,
                      spec_.name));
    }
    for (Schedule& schedule : result.schedules()) {
      std::vector<SketchStep> steps = branch.steps;
      steps.push_back({module.id, block, branch.schedule.trace().size(), schedule.trace().size()});
      next.push_back({std::move(schedule), claims, std::move(steps)});
    }
    return next;
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
  size_t branches_ = 1;
  std::vector<ModuleEvent>& events_;
};

}  // namespace

SketchSet Space::generate(const Program& program) const {
  SketchSet set;
  const ModuleInputs inputs{state_->device, state_->lower_options.execution, state_->intrinsics, program};
  Generator generator(inputs, state_->spec, set.events);
  std::vector<Branch> branches;
  branches.push_back({Schedule(program, RandomStream(0), state_->all_intrinsics), {}, {}});
  for (const ModuleStage stage : {ModuleStage::Block, ModuleStage::Root}) {
    for (const ComposedModule& module : state_->modules) {
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
