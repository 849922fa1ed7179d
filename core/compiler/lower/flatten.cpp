#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The offset in a layout without gaps between existing elements.
Expr packed_offset(const BufferNode& buffer, std::span<const Expr> indices) {
  Expr offset = 0;
  for (size_t d = 0; d < indices.size(); ++d)
    offset = offset * (buffer.extents[d] ? buffer.extents[d] : int_imm(buffer.shape[d])) + indices[d];
  return offset;
}

/// Flattens loads, then simplifies indices and conditions.
class Flattener {
 public:
  explicit Flattener(const Program& program) {
    for (const auto* list : {&program.inputs, &program.outputs}) {
      for (const Buffer& buffer : *list)
        if (is_packed(program, buffer)) packed_.push_back(buffer);
    }
  }

  void run(Stmt& stmt) {
    if (Store* store = stmt.as<Store>()) {
      store->indices = {analyzer_.simplify(offset_of(store->buffer, store->indices))};
      store->value = flatten_expr(store->value);
      if (store->mask) store->mask = analyzer_.simplify(flatten_expr(store->mask));
      return;
    }
    if (Loop* loop = stmt.as<Loop>()) {
      loop->min = analyzer_.simplify(loop->min);
      loop->extent = analyzer_.simplify(loop->extent);
      const Analyzer outside = analyzer_;
      analyzer_.bind(*loop);
      run(*loop->body());
      analyzer_ = outside;
      return;
    }
    if (If* branch = stmt.as<If>()) {
      branch->condition = analyzer_.simplify(flatten_expr(branch->condition));
    }
    std::vector<Stmt*> children;
    visit_children(stmt, [&](Stmt& child) { children.push_back(&child); });
    for (Stmt* child : children) run(*child);
    if (If* branch = stmt.as<If>()) drop_constant(*branch);
  }

 private:
  Expr offset_of(const Buffer& buffer, std::span<const Expr> indices) const {
    if (contains(packed_, buffer)) return packed_offset(*buffer, indices);
    const std::vector<int64_t> strides = buffer->effective_strides();
    Expr offset = 0;
    for (size_t d = 0; d < indices.size(); ++d) offset = offset + indices[d] * strides[d];
    return offset;
  }

  Expr flatten_expr(const Expr& expr) const {
    return rewrite_expr(expr, [&](const Expr& part) -> Expr {
      const LoadNode* access = part.as<LoadNode>();
      if (access == nullptr) {
        return part.is(ExprKind::Select) ? select(analyzer_.simplify(part.arg(0)), part.arg(1), part.arg(2))
                                         : part;
      }
      const Expr offset = analyzer_.simplify(offset_of(access->buffer, access->indices()));
      const Expr mask = access->mask() ? analyzer_.simplify(access->mask()) : Expr();
      return load(access->buffer, {offset}, is_const_int(mask, 1) ? Expr() : mask);
    });
  }

  static void drop_constant(If& branch) {
    int64_t value = 0;
    if (!as_const_int(branch.condition, &value)) return;
    if (value != 0) return unwrap(branch);
    StmtPtr other = std::make_unique<Seq>();
    if (branch.else_case() != nullptr) other = replace(*branch.else_case(), std::move(other));
    replace(branch, std::move(other));
  }

  std::vector<Buffer> packed_;
  Analyzer analyzer_;
};

}  // namespace

void flatten(Program& program) { Flattener(program).run(program.root()); }

}  // namespace tunesmith
