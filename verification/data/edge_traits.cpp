#include "tunesmith/verification/edge_traits.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/edges.h"
#include "tunesmith/verification/reference.h"

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
    // A recursive question (a reduction of itself) is answered by its first asker.
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

/// Is the result bounded, however large the operand is?
bool is_bounded(MathOp op) {
  return op == MathOp::Tanh || op == MathOp::Sigmoid || op == MathOp::Erf || op == MathOp::Sin ||
         op == MathOp::Cos;
}

bool multiplies_up(const Store* store) {
  return store->value.is(ExprKind::Mul) && loads_from(store->value, store->buffer);
}

/// The factors of a value.
struct Factors {
  int64_t degree = 0;                  // how many inputs are multiplied, at most
  std::set<const BufferNode*> inputs;  // inputs that it depends on; the order of iteration does not matter
};

/// For each input, the degree of the highest product that it is part of.
class Degrees {
 public:
  explicit Degrees(const Program& program) {
    for (const Buffer& input : program.inputs) {
      factors_[input.get()] = {1, {input.get()}};
      highest_[input.get()] = 1;
    }
    for (const Store* store : stores_of(program)) {
      Factors factors = of(store->value);
      if (multiplies_up(store)) {
        factors.degree = kHighestDegree;
        for (const BufferNode* input : factors.inputs) highest_[input] = kHighestDegree;
      }
      if (factors.degree > 1) count_type(store->buffer->dtype);
      Factors& known = factors_[store->buffer.get()];
      known.degree = std::max(known.degree, factors.degree);
      known.inputs.insert(factors.inputs.begin(), factors.inputs.end());
    }
  }
  int64_t of_input(const Buffer& input) const { return highest_.at(input.get()); }
  /// The exponents available to a factor in the narrowest floating type of a product. Copying does not count.
  int64_t exponents() const { return exponents_; }

 private:
  void count_type(DType type) {
    if (type.is_float()) exponents_ = std::min<int64_t>(exponents_, float_range(type).max_exponent);
  }

  Factors of(const Expr& expr) {
    if (const LoadNode* access = expr.as<LoadNode>()) return factors_[access->buffer.get()];
    int64_t sum = 0;
    Factors factors;
    for (const Expr& arg : expr.args()) {
      const Factors below = of(arg);
      sum += below.degree;
      factors.degree = std::max(factors.degree, below.degree);
      factors.inputs.insert(below.inputs.begin(), below.inputs.end());
    }
    const CallNode* function = expr.as<CallNode>();
    const bool raises = function != nullptr && function->op == MathOp::Pow;
    if (expr.is(ExprKind::Mul) || expr.is(ExprKind::Div) || raises) {
      factors.degree = std::min(raises ? 2 * sum : sum, kHighestDegree);
      count_type(expr.dtype());
      for (const BufferNode* input : factors.inputs)
        highest_[input] = std::max(highest_[input], factors.degree);
    }
    if (function != nullptr && function->op == MathOp::Sqrt) factors.degree = (factors.degree + 1) / 2;
    if (function != nullptr && is_bounded(function->op)) factors.degree = 0;
    return factors;
  }

  std::unordered_map<const BufferNode*, Factors> factors_;  // looked up, never walked
  std::unordered_map<const BufferNode*, int64_t> highest_;
  int64_t exponents_ = float_range(kF64).max_exponent;
};

/// Follows integers from inputs to the indices that they become.
class DataIndices {
 public:
  explicit DataIndices(const Program& program) {
    for (const Buffer& input : program.inputs) sources_[input.get()] = {input.get()};
    for (const Store* store : stores_of(program)) {
      std::set<const BufferNode*> found;
      walk_expr(store->value, [&](const Expr& part) {
        const LoadNode* access = part.as<LoadNode>();
        if (access == nullptr) return;
        if (access->buffer->dtype.is_int()) found.merge(std::set(sources_[access->buffer.get()]));
        for (size_t d = 0; d < access->rank; ++d) read_at(access->indices()[d], access->buffer->shape[d]);
      });
      sources_[store->buffer.get()].merge(found);
    }
  }
  int64_t extent(const Buffer& input) const {
    const auto found = extents_.find(input.get());
    return found == extents_.end() ? 0 : found->second;
  }

 private:
  void read_at(const Expr& index, int64_t extent) {
    walk_expr(index, [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      if (access == nullptr) return;
      for (const BufferNode* input : sources_[access->buffer.get()]) {
        if (input->dtype.is_int()) extents_[input] = std::max(extents_[input], extent);
      }
    });
  }

  std::unordered_map<const BufferNode*, std::set<const BufferNode*>> sources_;  // looked up, never walked
  std::unordered_map<const BufferNode*, int64_t> extents_;                      // for the same keys
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
  traits.multiplies = std::ranges::any_of(stores_of(program), multiplies_up);
  traits.keeps_denormals = keeps_denormals(program);
  const DataIndices indices(program);
  for (const Buffer& input : program.inputs) traits.extents.push_back(indices.extent(input));
  const Degrees degrees(program);
  for (const Buffer& input : program.inputs) {
    const bool scales = input->dtype.is_float();
    traits.exponents.push_back(scales ? std::min<int64_t>(float_range(input->dtype).max_exponent,
                                                          degrees.exponents() / degrees.of_input(input))
                                      : 0);
  }
  return traits;
}

}  // namespace tunesmith
