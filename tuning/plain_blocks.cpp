#include "tunesmith/tuning/plain_blocks.h"

#include <algorithm>
#include <map>
#include <set>

#include "sketch_blocks.h"

namespace tunesmith {
namespace {

/// The number of draws for a sketch besides the one it was generated with.
constexpr uint64_t kMoreDraws = 8;
/// Seed of these draws.
constexpr uint64_t kDrawSeed = 0x706c61696eULL;

class Finder {
 public:
  Finder(const Space& space, const Program& program, const SketchSet& set)
      : space_(space), program_(program), set_(set) {}

  std::vector<PlainBlock> find() {
    for (size_t i = 0; i < set_.sketches.size(); ++i) look_at(set_.sketches[i], set_.steps[i]);
    std::vector<PlainBlock> found;
    for (const Block* block : program_.blocks()) {
      const auto one = found_.find(block->name);
      if (one == found_.end()) continue;
      found.push_back({block->name, one->second.share, one->second.sketches, declined(one->second.names)});
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &PlainBlock::share);
    return found;
  }

 private:
  struct Found {
    double share = 0.0;
    size_t sketches = 0;
    std::set<std::string> names;  // in the sketches
  };

  void look_at(const Schedule& sketch, const std::vector<SketchStep>& steps) {
    std::map<std::string, double> shares;
    const SketchBlocks blocks(program_, sketch, steps);
    for (const BusyBlock& busy : busy_blocks(sketch.program(), kMuchOfTheWork)) {
      if (!blocks.is_plain(*busy.block)) continue;
      if (blocks.is_open(*busy.block) && is_decided_away(sketch, steps, busy.block->name)) continue;
      const std::string& origin = blocks.origin_of(*busy.block);
      shares[origin] += busy.share;
      found_[origin].names.insert(busy.block->name);
    }
    for (const auto& [origin, share] : shares) {
      Found& found = found_[origin];
      found.share = std::max(found.share, share);
      ++found.sketches;
    }
  }

  /// Do some decisions make the sketch's block not plain?
  bool is_decided_away(const Schedule& sketch, const std::vector<SketchStep>& steps,
                       const std::string& name) const {
    const Trace open = sketch.trace().with_open_decisions();
    for (uint64_t draw = 0; draw < kMoreDraws; ++draw) {
      const auto other = replay(program_, open, RandomStream(kDrawSeed, draw), nullptr, space_.intrinsics());
      if (!other) continue;
      const Block* const block = other->program().find_block(name);
      if (block == nullptr || !SketchBlocks(program_, *other, steps).is_plain(*block)) return true;
    }
    return false;
  }

  std::vector<PlainBlock::Declined> declined(const std::set<std::string>& names) const {
    std::vector<PlainBlock::Declined> declined;
    for (const ModuleEvent& event : set_.events) {
      if (event.status != ModuleResult::Status::NotApplicable || !names.contains(event.block)) continue;
      const bool said = std::ranges::any_of(declined, [&](const PlainBlock::Declined& before) {
        return before.module == event.module && before.reason == event.reason;
      });
      if (!said) declined.push_back({event.module, event.reason});
    }
    return declined;
  }

  const Space& space_;
  const Program& program_;
  const SketchSet& set_;
  std::map<std::string, Found> found_;  // by the name of the original block
};

}  // namespace

std::vector<PlainBlock> plain_blocks(const Space& space, const Program& program, const SketchSet& set) {
  return Finder(space, program, set).find();
}

}  // namespace tunesmith
