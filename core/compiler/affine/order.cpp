#include "affine/order.h"

#include <bit>
#include <tuple>

namespace tunesmith::affine {
namespace {

template <typename T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int kind_rank(ExprKind kind) { return kind == ExprKind::Var ? -1 : static_cast<int>(kind); }

std::tuple<int, int, int> type_rank(const DType& type) {
  return {static_cast<int>(type.code), type.bits, type.lanes};
}

/// The leftmost leaf.
const ExprNode* first_leaf(const Expr& expr) {
  const ExprNode* node = expr.get();
  while (!node->args().empty()) node = node->args()[0].get();
  return node;
}

int compare_structure(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return 0;
  if (a.kind() != b.kind()) return three_way(kind_rank(a.kind()), kind_rank(b.kind()));
  switch (a.kind()) {
    case ExprKind::Var:
      return three_way(a.as<VarNode>()->serial, b.as<VarNode>()->serial);
    case ExprKind::IntImm:
      if (a.as<IntImm>()->value != b.as<IntImm>()->value)
        return three_way(a.as<IntImm>()->value, b.as<IntImm>()->value);
      break;
    case ExprKind::FloatImm: {
      const auto bits_a = std::bit_cast<uint64_t>(a.as<FloatImm>()->value);
      const auto bits_b = std::bit_cast<uint64_t>(b.as<FloatImm>()->value);
      if (bits_a != bits_b) return three_way(bits_a, bits_b);
      break;
    }
    case ExprKind::Call:
      if (a.as<CallNode>()->op != b.as<CallNode>()->op)
        return three_way(a.as<CallNode>()->op, b.as<CallNode>()->op);
      break;
    case ExprKind::Load:
      if (a.as<LoadNode>()->buffer != b.as<LoadNode>()->buffer) {
        const int names = three_way(a.as<LoadNode>()->buffer->name, b.as<LoadNode>()->buffer->name);
        if (names != 0) return names;
      }
      break;
    default:
      break;
  }
  const auto args_a = a.args();
  const auto args_b = b.args();
  if (args_a.size() != args_b.size()) return three_way(args_a.size(), args_b.size());
  for (size_t i = 0; i < args_a.size(); ++i) {
    if (const int order = compare_structure(args_a[i], args_b[i]); order != 0) return order;
  }
  return a.dtype() == b.dtype() ? 0 : three_way(type_rank(a.dtype()), type_rank(b.dtype()));
}

}  // namespace

int compare_order(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return 0;
  const ExprNode* leaf_a = first_leaf(a);
  const ExprNode* leaf_b = first_leaf(b);
  if (leaf_a != leaf_b) {
    const bool var_a = leaf_a->kind == ExprKind::Var;
    const bool var_b = leaf_b->kind == ExprKind::Var;
    if (var_a != var_b) return var_a ? -1 : 1;
    if (var_a) {
      return three_way(static_cast<const VarNode*>(leaf_a)->serial,
                       static_cast<const VarNode*>(leaf_b)->serial);
    }
  }
  return compare_structure(a, b);
}

}  // namespace tunesmith::affine
