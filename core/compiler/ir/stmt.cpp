#include "tunesmith/ir/stmt.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// Puts `value` into `slot` as a child of `owner` and returns the old child.
StmtPtr put(Stmt& owner, StmtPtr& slot, StmtPtr value) {
  if (value) value->parent = &owner;
  std::swap(slot, value);
  if (value) value->parent = nullptr;
  return value;
}

StmtPtr clone_or_null(const Stmt* stmt) { return stmt ? stmt->clone() : nullptr; }

}  // namespace

Stmt::~Stmt() = default;

std::string_view loop_kind_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::Serial:
      return "serial";
    case LoopKind::Parallel:
      return "parallel";
    case LoopKind::Vectorized:
      return "vectorized";
    case LoopKind::Unrolled:
      return "unrolled";
    case LoopKind::Bound:
      return "bound";
  }
  return "?";
}

std::string_view iter_kind_name(IterKind kind) {
  switch (kind) {
    case IterKind::Spatial:
      return "spatial";
    case IterKind::Reduction:
      return "reduction";
    case IterKind::Opaque:
      return "opaque";
  }
  return "?";
}

// ---- Seq ----

Seq::Seq(std::vector<StmtPtr> statements) : Stmt(kKind) {
  children_.reserve(statements.size());
  for (StmtPtr& statement : statements) append(std::move(statement));
}

StmtPtr Seq::clone() const {
  auto copy = std::make_unique<Seq>();
  copy->children_.reserve(children_.size());
  for (const StmtPtr& child : children_) {
    copy->children_.push_back(child->clone());
    copy->children_.back()->parent = copy.get();
  }
  return copy;
}

void Seq::insert(size_t position, StmtPtr statement) {
  check_invariant(statement != nullptr && position <= children_.size(),
                  "a statement goes to a place in the Seq");
  const auto at = children_.begin() + static_cast<std::ptrdiff_t>(position);
  if (Seq* inner = statement->as<Seq>()) {
    for (StmtPtr& child : inner->children_) child->parent = this;
    children_.insert(at, std::make_move_iterator(inner->children_.begin()),
                     std::make_move_iterator(inner->children_.end()));
    return;
  }
  statement->parent = this;
  children_.insert(at, std::move(statement));
}

StmtPtr Seq::remove(size_t position) {
  check_invariant(position < children_.size(), "the Seq has the position");
  StmtPtr removed = std::move(children_[position]);
  children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(position));
  removed->parent = nullptr;
  return removed;
}

size_t Seq::index_of(const Stmt& child) const {
  for (size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].get() == &child) return i;
  }
  throw InternalError("the statement is not a child of the Seq");
}

// ---- Loop ----

Loop::Loop(LoopId loop_id, Var variable, Expr min_value, Expr extent_value, StmtPtr loop_body)
    : Stmt(kKind),
      id(loop_id),
      var(std::move(variable)),
      min(std::move(min_value)),
      extent(std::move(extent_value)) {
  set_body(std::move(loop_body));
}

StmtPtr Loop::clone() const {
  auto copy = std::make_unique<Loop>(id, var, min, extent, clone_or_null(body()));
  copy->loop_kind = loop_kind;
  copy->thread = thread;
  copy->annotations = annotations;
  return copy;
}

void Loop::set_body(StmtPtr statement) { put(*this, body_, std::move(statement)); }
StmtPtr Loop::take_body() { return put(*this, body_, nullptr); }

int64_t Loop::const_extent() const {
  int64_t value = 0;
  check_invariant(as_const_int(extent, &value), "the loop's extent is constant");
  return value;
}

// ---- Block ----

Block::Block(BlockId block_id, std::string block_name, std::vector<IterVar> iteration_vars,
             std::vector<Expr> binds, StmtPtr init_stmt, StmtPtr block_body)
    : Stmt(kKind),
      id(block_id),
      name(std::move(block_name)),
      iters(std::move(iteration_vars)),
      bindings(std::move(binds)),
      predicate(bool_imm(true)) {
  check_invariant(iters.size() == bindings.size(), "a block has one binding for each iteration variable");
  set_init(std::move(init_stmt));
  set_body(std::move(block_body));
}

StmtPtr Block::clone() const {
  auto copy =
      std::make_unique<Block>(id, name, iters, bindings, clone_or_null(init()), clone_or_null(body()));
  copy->predicate = predicate;
  copy->annotations = annotations;
  return copy;
}

void Block::set_init(StmtPtr statement) { put(*this, init_, std::move(statement)); }
StmtPtr Block::take_init() { return put(*this, init_, nullptr); }
void Block::set_body(StmtPtr statement) { put(*this, body_, std::move(statement)); }
StmtPtr Block::take_body() { return put(*this, body_, nullptr); }

bool Block::has_reduction() const {
  return std::any_of(iters.begin(), iters.end(),
                     [](const IterVar& iter) { return iter.kind == IterKind::Reduction; });
}

int Block::iter_index(const Var& var) const {
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].var == var) return static_cast<int>(i);
  }
  return -1;
}

Substitution Block::iters_at(std::span<const Expr> values) const {
  Substitution map;
  for (size_t i = 0; i < iters.size(); ++i) map.set(iters[i].var, values[i]);
  return map;
}

// ---- Store, If, Allocate, Barrier, AsyncGroup, AsyncWait ----

Store::Store(Buffer to, std::vector<Expr> at, Expr stored_value, Expr store_mask)
    : Stmt(kKind),
      buffer(std::move(to)),
      indices(std::move(at)),
      value(std::move(stored_value)),
      mask(std::move(store_mask)) {
  const bool flat = indices.size() == 1;
  if ((!flat && indices.size() != buffer->shape.size()) || value.dtype().scalar() != buffer->dtype) {
    throw InternalError(fmt::format("a {} cannot be stored with {} indices into {}, a {} of {} dimensions",
                                    value.dtype().str(), indices.size(), buffer->name, buffer->dtype.str(),
                                    buffer->shape.size()));
  }
  int lanes = std::max<int>(value.dtype().lanes, mask ? mask.dtype().lanes : 1);
  for (const Expr& index : indices) {
    check_invariant(index.dtype().is_index(), "what stands in the brackets of an access is an index");
    lanes = std::max<int>(lanes, index.dtype().lanes);
  }
  if (lanes == 1) return;
  const auto widen = [&](Expr& expr) {
    if (expr.dtype().lanes != lanes) expr = broadcast(expr, lanes);
  };
  for (Expr& index : indices) widen(index);
  widen(value);
  if (mask) widen(mask);
}

StmtPtr Store::clone() const { return std::make_unique<Store>(buffer, indices, value, mask); }

If::If(Expr if_condition, StmtPtr then_body, StmtPtr else_body)
    : Stmt(kKind), condition(std::move(if_condition)) {
  set_then(std::move(then_body));
  set_else(std::move(else_body));
}

StmtPtr If::clone() const {
  return std::make_unique<If>(condition, clone_or_null(then_case()), clone_or_null(else_case()));
}

void If::set_then(StmtPtr statement) { put(*this, then_, std::move(statement)); }
void If::set_else(StmtPtr statement) { put(*this, else_, std::move(statement)); }

Allocate::Allocate(Buffer what, StmtPtr inner) : Stmt(kKind), buffer(std::move(what)) {
  set_body(std::move(inner));
}

StmtPtr Allocate::clone() const {
  auto copy = std::make_unique<Allocate>(buffer, clone_or_null(body()));
  copy->offset = offset;
  return copy;
}

void Allocate::set_body(StmtPtr statement) { put(*this, body_, std::move(statement)); }
StmtPtr Allocate::take_body() { return put(*this, body_, nullptr); }

StmtPtr Barrier::clone() const { return std::make_unique<Barrier>(level); }

AsyncGroup::AsyncGroup(StmtPtr inner) : Stmt(kKind) { set_body(std::move(inner)); }

StmtPtr AsyncGroup::clone() const { return std::make_unique<AsyncGroup>(clone_or_null(body())); }

void AsyncGroup::set_body(StmtPtr statement) { put(*this, body_, std::move(statement)); }

StmtPtr AsyncWait::clone() const { return std::make_unique<AsyncWait>(pending); }

Handover::Handover(std::string along, int64_t places, StmtPtr producing, StmtPtr consuming)
    : Stmt(kKind), axis(std::move(along)), versions(places) {
  put(*this, produce_, std::move(producing));
  put(*this, consume_, std::move(consuming));
}

StmtPtr Handover::clone() const {
  return std::make_unique<Handover>(axis, versions, clone_or_null(produce()), clone_or_null(consume()));
}

// ---- The tree ----

StmtPtr replace(Stmt& at, StmtPtr with) {
  check_invariant(at.parent != nullptr, "a statement that is replaced has a parent");
  Stmt& parent = *at.parent;
  if (Seq* seq = parent.as<Seq>()) {
    const size_t position = seq->index_of(at);
    StmtPtr old = seq->remove(position);
    if (with) seq->insert(position, std::move(with));
    return old;
  }
  StmtPtr* slot = nullptr;
  bool optional = false;
  if (Loop* loop = parent.as<Loop>()) {
    slot = &loop->body_;
  } else if (Allocate* allocate = parent.as<Allocate>()) {
    slot = &allocate->body_;
  } else if (AsyncGroup* group = parent.as<AsyncGroup>()) {
    slot = &group->body_;
  } else if (Handover* handover = parent.as<Handover>()) {
    slot = handover->produce_.get() == &at ? &handover->produce_ : &handover->consume_;
  } else if (Block* block = parent.as<Block>()) {
    optional = block->init_.get() == &at;
    slot = optional ? &block->init_ : &block->body_;
  } else if (If* branch = parent.as<If>()) {
    optional = branch->else_.get() == &at;
    slot = optional ? &branch->else_ : &branch->then_;
  }
  check_invariant(slot && slot->get() == &at, "a statement stands where its parent link says");
  check_invariant(with || optional, "only a child of a Seq, an init or an else can be removed");
  return put(parent, *slot, std::move(with));
}

void substitute_in(Stmt& stmt, const Substitution& map) {
  if (map.empty()) return;
  rewrite_exprs(stmt, [&](const Expr& expr) {
    const auto* var = expr.as<VarNode>();
    const Expr* value = var ? map.find(var) : nullptr;
    return value ? *value : expr;
  });
}

void replace_buffer_in(Stmt& stmt, const Buffer& from, const Buffer& to) {
  move_accesses(stmt, from, to, same_place);
  walk(stmt, [&](Stmt& at) {
    if (Allocate* allocate = at.as<Allocate>(); allocate && allocate->buffer == from) allocate->buffer = to;
  });
}

std::vector<Loop*> loops_above(const Stmt& stmt) {
  std::vector<Loop*> loops;
  loops.reserve(8);
  for (Stmt* at = stmt.parent; at && at->kind != StmtKind::Block; at = at->parent) {
    if (Loop* loop = at->as<Loop>()) loops.push_back(loop);
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

const Handover* handover_of(const Loop& loop) {
  const Stmt* body = loop.body();
  for (const Seq* seq = body->as<Seq>(); seq != nullptr && seq->children().size() == 1; seq = body->as<Seq>())
    body = seq->children().front().get();
  return body->as<Handover>();
}

Block* enclosing_block(const Stmt& stmt) {
  for (Stmt* at = stmt.parent; at; at = at->parent) {
    if (Block* block = at->as<Block>()) return block;
  }
  return nullptr;
}

bool is_ancestor(const Stmt& ancestor, const Stmt& stmt) {
  for (const Stmt* at = &stmt; at; at = at->parent) {
    if (at == &ancestor) return true;
  }
  return false;
}

}  // namespace tunesmith
