#include <set>
#include <tuple>
#include <vector>

#include <llvm/IR/Intrinsics.h>

#include "moving_loads.h"
#include "tunesmith/ir/annotation_keys.h"

namespace tunesmith::llvm_target {

namespace {

/// More per iteration would delay its computation.
constexpr size_t kMaxLines = 64;

/// The lines of memory that the loop's body loads at addresses that move with the loop.
class PrefetchedLines {
 public:
  struct Line {
    BufferSlot slot;
    DType type;
    Linear at;  // an element in it
  };
  const std::vector<Line>& lines() const { return lines_; }

  /// Returns whether there is room for more.
  bool add(const BufferSlot& slot, DType type, const LaneIndex& index) {
    for (const int64_t lane : index.lanes) {
      const Linear at = add_scaled(index.base, Linear(lane), 1);
      std::vector<std::pair<int64_t, uint32_t>> terms;
      for (const Linear::Term& term : at.terms) terms.emplace_back(term.coefficient, term.atom);
      const int64_t line = floor_quotient(at.constant * type.scalar().bytes(), kCacheLineBytes);
      if (lines_.size() < kMaxLines && seen_.emplace(slot.id, terms, line).second)
        lines_.push_back({slot, type, at});
    }
    return lines_.size() < kMaxLines;
  }

 private:
  std::vector<Line> lines_;
  std::set<std::tuple<uint32_t, std::vector<std::pair<int64_t, uint32_t>>, int64_t>> seen_;
};

}  // namespace

void FunctionEmitter::prefetch(const BufferSlot& slot, DType type, const Linear& at) {
  // A read, to stay in all caches, of data.
  ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
                      {pointer(slot, type, at), ir_.getInt32(0), ir_.getInt32(3), ir_.getInt32(1)});
}

void FunctionEmitter::emit_prefetches(const Loop& loop) {
  const std::optional<int64_t> ahead = whole_annotation(loop, kPrefetch);
  if (!ahead) return;
  const auto outer = vars_;
  vars_[loop.var.get()] = add_scaled(vars_.at(loop.var.get()), Linear(*ahead), 1);
  PrefetchedLines lines;
  MovingLoads(*this, loop.var, [&](const BufferSlot& slot, DType type, const LaneIndex& index) {
    return lines.add(slot, type, index);
  }).walk(*loop.body());
  for (const PrefetchedLines::Line& line : lines.lines()) prefetch(line.slot, line.type, line.at);
  vars_ = outer;
}

}  // namespace tunesmith::llvm_target
