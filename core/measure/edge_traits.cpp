#include "measure/edge_traits.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "measure/reference.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

constexpr int64_t kHighestDegree = 8;

std::vector<const Store*> stores_of(const Program& program) {
  std::vector<const Store*> stores;
  walk(program.root(), [&](const Stmt& stmt) {
    if (const Store* store = stmt.as<Store>()) stores.push_back(store);
  });
  return stores;
}

/// Follows axes of buffers from stage to stage.
class CarriedAxes {
 public:
  explicit CarriedAxes(const Program& program) : stores_(stores_of(program)) {}

  bool carries(const BufferNode* buffer, size_t axis) {
    // What is asked for again on the way, by a reduction of itself, is answered by whoever asked first.
    const auto [found, fresh] = known_.try_emplace({buffer, axis}, true);
    if (!fresh) return found->second;
    const bool all = std::ranges::all_of(stores_, [&](const Store* store) {
      bool stays = true;
      walk_expr(store->value, [&](const Expr& part) {
        const LoadNode* access = part.as<LoadNode>();
        if (access != nullptr && access->buffer.get() == buffer)
          stays = stays && carries_into(*store, access->indices()[axis]);
      });
      return stays;
    });
    known_[{buffer, axis}] = all;
    return all;
  }

 private:
  bool carries_into(const Store& store, const Expr& index) {
    const Block* block = enclosing_block(store);
    if (block == nullptr) return false;
    const auto is_spatial = [&](const IterVar& iter) {
      return iter.kind == IterKind::Spatial && equal(iter.var, index);
    };
    if (std::ranges::none_of(block->iters, is_spatial)) return false;
    for (size_t axis = 0; axis < store.indices.size(); ++axis) {
      if (equal(store.indices[axis], index)) return carries(store.buffer.get(), axis);
    }
    return false;
  }

  std::vector<const Store*> stores_;
  std::map<std::pair<const BufferNode*, size_t>, bool> known_;  // looked up, never walked
};

/// The degree of the highest product of inputs anywhere in the program.
class Degrees {
 public:
  explicit Degrees(const Program& program) {
    for (const Buffer& input : program.inputs) of_buffer_[input.get()] = 1;
    for (const Store* store : stores_of(program)) {
      const int64_t degree = of(store->value);
      int64_t& known = of_buffer_[store->buffer.get()];
      known = std::max(known, degree);
    }
  }
  int64_t highest() const { return std::clamp(highest_, int64_t{1}, kHighestDegree); }

 private:
  int64_t of(const Expr& expr) {
    if (const LoadNode* access = expr.as<LoadNode>()) return of_buffer_[access->buffer.get()];
    int64_t sum = 0;
    int64_t most = 0;
    for (const Expr& arg : expr.args()) {
      const int64_t degree = of(arg);
      sum = std::min(sum + degree, kHighestDegree);
      most = std::max(most, degree);
    }
    const CallNode* function = expr.as<CallNode>();
    if (function != nullptr && function->op == MathOp::Pow) most = std::min(2 * most, kHighestDegree);
    if (expr.is(ExprKind::Mul) || expr.is(ExprKind::Div)) most = sum;
    highest_ = std::max(highest_, most);
    if (function != nullptr && function->op == MathOp::Sqrt) return (most + 1) / 2;
    return most;
  }

  std::unordered_map<const BufferNode*, int64_t> of_buffer_;  // looked up, never walked
  int64_t highest_ = 1;
};

bool keeps_denormals(const Program& program) {
  bool keeps = std::ranges::none_of(program.buffers(),
                                    [](const Buffer& buffer) { return buffer->dtype.scalar() == kBF16; });
  for (const Store* store : stores_of(program)) {
    walk_expr(store->value, [&](const Expr& part) {
      const CallNode* function = part.as<CallNode>();
      const bool divides =
          (part.is(ExprKind::Div) && part.dtype().is_float() && !part.arg(1).args().empty()) ||
          (function != nullptr && (function->op == MathOp::Rsqrt || function->op == MathOp::Pow));
      keeps = keeps && !divides && part.dtype().scalar() != kBF16;
    });
  }
  return keeps;
}

}  // namespace

EdgeTraits edge_traits(const Program& program) {
  EdgeTraits traits;
  CarriedAxes axes(program);
  for (const Buffer& input : program.inputs) {
    std::vector<bool>& carried = traits.carried.emplace_back();
    for (size_t axis = 0; axis < input->shape.size(); ++axis)
      carried.push_back(axes.carries(input.get(), axis));
  }
  traits.rounds = std::ranges::any_of(has_bound(program, DataKind::Random), [](bool has) { return has; });
  traits.reduces = false;
  for (const Block* block : program.blocks()) {
    traits.reduces = traits.reduces || block->has_reduction();
    int64_t operations = 1;
    for (const IterVar& iter : block->iters) operations *= iter.extent;
    traits.operations += operations;
  }
  traits.keeps_denormals = keeps_denormals(program);
  traits.degree = Degrees(program).highest();
  return traits;
}

}  // namespace tunesmith
