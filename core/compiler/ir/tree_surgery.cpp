#include "tunesmith/ir/tree_surgery.h"

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The Seq around `anchor`; makes one if there is none.
Seq& seq_around(Stmt& anchor) {
  if (Seq* seq = anchor.parent->as<Seq>()) return *seq;
  auto made = std::make_unique<Seq>();
  Seq& seq = *made;
  StmtPtr old = replace(anchor, std::move(made));
  seq.append(std::move(old));
  return seq;
}

size_t depth(const Stmt& stmt) {
  size_t result = 0;
  for (const Stmt* at = stmt.parent; at != nullptr; at = at->parent) ++result;
  return result;
}

/// The position of `child` among its parent's children.
size_t rank(const Stmt& child) {
  size_t position = 0;
  size_t found = 0;
  visit_children(*child.parent, [&](const Stmt& other) {
    if (&other == &child) found = position;
    ++position;
  });
  return found;
}

}  // namespace

StmtPtr take_out(Stmt& stmt) {
  // The outermost statement that contains nothing else.
  Stmt* top = &stmt;
  for (Stmt* up = top->parent; up->kind == StmtKind::Loop || up->kind == StmtKind::Seq; up = top->parent) {
    const Seq* seq = up->as<Seq>();
    if (seq != nullptr && (seq->children().size() > 1 || seq->parent == nullptr)) break;
    top = up;
  }
  Seq* rest = top->parent->as<Seq>();
  check_invariant(rest != nullptr, "what is taken out does not stand alone in its scope");
  StmtPtr nest = rest->remove(rest->index_of(*top));
  StmtPtr taken = &stmt == top ? std::move(nest) : replace(stmt, std::make_unique<Seq>());
  if (rest->children().size() == 1 && rest->parent != nullptr) replace(*rest, rest->remove(0));
  return taken;
}

void unwrap(If& branch) {
  StmtPtr body = replace(*branch.then_case(), std::make_unique<Seq>());
  replace(branch, std::move(body));
}

void insert_before(Stmt& anchor, StmtPtr stmt) {
  Seq& seq = seq_around(anchor);
  seq.insert(seq.index_of(anchor), std::move(stmt));
}

void insert_after(Stmt& anchor, StmtPtr stmt) {
  Seq& seq = seq_around(anchor);
  seq.insert(seq.index_of(anchor) + 1, std::move(stmt));
}

const Stmt* common_ancestor(const Stmt& a, const Stmt& b) {
  const Stmt* x = &a;
  const Stmt* y = &b;
  size_t depth_x = depth(a);
  size_t depth_y = depth(b);
  for (; depth_x > depth_y; --depth_x) x = x->parent;
  for (; depth_y > depth_x; --depth_y) y = y->parent;
  while (x != y) {
    x = x->parent;
    y = y->parent;
  }
  return x;
}

bool precedes(const Stmt& a, const Stmt& b) {
  const Stmt* common = common_ancestor(a, b);
  if (common == &a || common == &b) return false;
  const Stmt* x = &a;
  const Stmt* y = &b;
  while (x->parent != common) x = x->parent;
  while (y->parent != common) y = y->parent;
  return rank(*x) < rank(*y);
}

Stmt& statement_towards(Stmt& ancestor, Stmt& stmt) {
  Stmt* at = &stmt;
  while (at->parent != &ancestor && !(at->parent->kind == StmtKind::Seq && at->parent->parent == &ancestor))
    at = at->parent;
  return *at;
}

Stmt& outermost_in_scope(Stmt& stmt) {
  Stmt* at = &stmt;
  while (at->parent->parent != nullptr && at->parent->kind != StmtKind::Block &&
         !(at->parent->kind == StmtKind::Seq && at->parent->parent->kind == StmtKind::Block)) {
    at = at->parent;
  }
  return *at;
}

}  // namespace tunesmith
