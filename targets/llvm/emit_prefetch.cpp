#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <llvm/IR/Intrinsics.h>

#include "function_emitter.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

namespace {

constexpr int64_t kLineBytes = 64;
/// More than this in one iteration would crowd out what it computes.
constexpr size_t kMaxLines = 64;

}  // namespace

/// The lines of memory that the loop's body loads at addresses that move with the loop.
class PrefetchedLines {
 public:
  PrefetchedLines(FunctionEmitter& emitter, const Var& moving) : emitter_(emitter), moving_(moving) {}

  struct Line {
    BufferSlot slot;
    DType type;
    Linear at;  // an element in it
  };
  const std::vector<Line>& lines() const { return lines_; }

  void stmt(const Stmt& stmt) {
    if (lines_.size() >= kMaxLines) return;
    if (const Loop* loop = stmt.as<Loop>()) {
      const Linear min = emitter_.linear(loop->min);
      const Linear extent = emitter_.linear(loop->extent);
      const bool unrolled =
          loop->loop_kind == LoopKind::Unrolled && min.is_constant() && extent.is_constant();
      for (int64_t i = 0; i < (unrolled ? extent.constant : 1); ++i) {
        emitter_.bind_var(loop->var.get(), add_scaled(min, Linear(i), 1));
        this->stmt(*loop->body());
      }
      return;
    }
    if (const Store* store = stmt.as<Store>()) {
      walk_expr(store->value, [&](const Expr& part) {
        if (const LoadNode* load = part.as<LoadNode>()) add(*load);
      });
    }
    visit_children(stmt, [&](const Stmt& child) { this->stmt(child); });
  }

 private:
  void add(const LoadNode& load) {
    const auto found = emitter_.buffers_.find(load.buffer.get());
    const Expr& index = load.indices()[0];
    // A buffer that is made in the body has no address yet.
    if (found == emitter_.buffers_.end() || found->second.in_registers || !uses_var(index, moving_)) return;
    if (any_of_expr(index, [](const Expr& part) { return part.is(ExprKind::Load); })) return;
    const auto lanes = emitter_.lane_index(index);
    if (!lanes) return;
    for (const int64_t lane : lanes->lanes) {
      const Linear at = add_scaled(lanes->base, Linear(lane), 1);
      std::vector<std::pair<int64_t, uint32_t>> terms;
      for (const Linear::Term& term : at.terms) terms.emplace_back(term.coefficient, term.atom);
      const int64_t line = floor_quotient(at.constant * load.dtype.scalar().bytes(), kLineBytes);
      if (lines_.size() < kMaxLines && seen_.emplace(found->second.id, terms, line).second)
        lines_.push_back({found->second, load.dtype, at});
    }
  }

  FunctionEmitter& emitter_;
  const Var& moving_;
  std::vector<Line> lines_;
  std::set<std::tuple<uint32_t, std::vector<std::pair<int64_t, uint32_t>>, int64_t>> seen_;
};

void FunctionEmitter::emit_prefetches(const Loop& loop) {
  const auto annotation = loop.annotations.find(kPrefetch);
  const int64_t* ahead =
      annotation == loop.annotations.end() ? nullptr : std::get_if<int64_t>(&annotation->second);
  if (ahead == nullptr) return;
  const auto outer = vars_;
  vars_[loop.var.get()] = add_scaled(vars_.at(loop.var.get()), Linear(*ahead), 1);
  PrefetchedLines lines(*this, loop.var);
  lines.stmt(*loop.body());
  for (const PrefetchedLines::Line& line : lines.lines()) {
    llvm::Value* address = pointer(line.slot, line.type, line.at);
    // A read, to stay in all caches, of data.
    ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
                        {address, ir_.getInt32(0), ir_.getInt32(3), ir_.getInt32(1)});
  }
  vars_ = outer;
}

}  // namespace tunesmith::llvm_target
