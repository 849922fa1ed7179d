#include "ir/structural_hash.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

constexpr uint64_t kAbsent = ~uint64_t{0};

}  // namespace

void StructuralHasher::program(const Program& p) {
  for (const ExtentParameter& parameter : p.parameters) {
    var(parameter.var.get());
    number(static_cast<uint64_t>(parameter.var->lowest));
    number(static_cast<uint64_t>(parameter.var->highest));
  }
  for (const auto* list : {&p.inputs, &p.outputs, &p.intermediates}) {
    number(list->size());
    for (const Buffer& b : *list) buffer(b);
  }
  annotations(p.annotations);
  stmt(p.root());
}

void StructuralHasher::number(uint64_t value) { hash_ = hash_combine(hash_, value); }
void StructuralHasher::text(std::string_view value) { number(hash_bytes(value)); }

void StructuralHasher::type(DType t) {
  number(static_cast<uint64_t>(t.code) << 32 | static_cast<uint64_t>(t.bits) << 16 | t.lanes);
}

void StructuralHasher::annotations(const Annotations& facts) {
  number(facts.size());
  for (const auto& [key, value] : facts) {
    text(key);
    number(value.index());
    if (const auto* i = std::get_if<int64_t>(&value)) number(static_cast<uint64_t>(*i));
    if (const auto* d = std::get_if<double>(&value)) number(std::bit_cast<uint64_t>(*d));
    if (const auto* s = std::get_if<std::string>(&value)) text(*s);
  }
}

void StructuralHasher::var(const VarNode* node) {
  const auto [entry, fresh] = vars_.try_emplace(node, vars_.size());
  number(entry->second);
  if (fresh) type(node->dtype);
}

void StructuralHasher::buffer(const Buffer& b) {
  const auto [entry, fresh] = buffers_.try_emplace(b.get(), buffers_.size());
  number(entry->second);
  if (!fresh) return;
  type(b->dtype);
  number(b->shape.size());
  for (const int64_t extent : b->shape) number(static_cast<uint64_t>(extent));
  text(b->scope);
  number(b->constant);
  number(b->strides.size());
  for (const int64_t stride : b->strides) number(static_cast<uint64_t>(stride));
  for (const Expr& extent : b->extents) expr(extent);
  const Swizzle& swizzle = b->swizzle;
  if (swizzle.bits == 0) return;
  for (const int part : {swizzle.bits, swizzle.to, swizzle.from}) number(static_cast<uint64_t>(part));
}

void StructuralHasher::sum(const Expr& e) {
  std::vector<Expr> open{e};
  std::vector<uint64_t> terms;
  const uint64_t before = hash_;
  while (!open.empty()) {
    const Expr term = std::move(open.back());
    open.pop_back();
    if (term.is(ExprKind::Add)) {
      open.push_back(term.arg(1));
      open.push_back(term.arg(0));
      continue;
    }
    hash_ = 0;
    expr(term);
    terms.push_back(hash_);
  }
  std::sort(terms.begin(), terms.end());
  hash_ = before;
  type(e.dtype());
  number(terms.size());
  for (const uint64_t term : terms) number(term);
}

void StructuralHasher::expr(const Expr& e) {
  if (!e) return number(kAbsent);
  number(static_cast<uint64_t>(e.kind()));
  if (e.is(ExprKind::Add) && !e.dtype().is_float()) return sum(e);
  switch (e.kind()) {
    case ExprKind::Var:
      return var(e.as<VarNode>());
    case ExprKind::IntImm:
      number(static_cast<uint64_t>(e.as<IntImm>()->value));
      break;
    case ExprKind::FloatImm:
      number(std::bit_cast<uint64_t>(e.as<FloatImm>()->value));
      break;
    case ExprKind::Call:
      number(static_cast<uint64_t>(e.as<CallNode>()->op));
      break;
    case ExprKind::Load:
      buffer(e.as<LoadNode>()->buffer);
      break;
    default:
      break;
  }
  type(e.dtype());
  number(e.args().size());
  for (const Expr& arg : e.args()) expr(arg);
}

void StructuralHasher::loop(const Loop& l) {
  expr(l.min);
  expr(l.extent);
  var(l.var.get());
  number(static_cast<uint64_t>(l.loop_kind));
  text(l.thread);
  annotations(l.annotations);
}

void StructuralHasher::block(const Block& b) {
  number(b.iters.size());
  for (size_t i = 0; i < b.iters.size(); ++i) {
    expr(b.bindings[i]);
    var(b.iters[i].var.get());
    number(static_cast<uint64_t>(b.iters[i].extent));
    number(static_cast<uint64_t>(b.iters[i].kind));
  }
  expr(b.predicate);
  annotations(b.annotations);
  number(b.init() != nullptr);
}

void StructuralHasher::stmt(const Stmt& s) {
  number(static_cast<uint64_t>(s.kind));
  switch (s.kind) {
    case StmtKind::Seq:
      number(static_cast<const Seq&>(s).children().size());
      break;
    case StmtKind::Loop:
      loop(static_cast<const Loop&>(s));
      break;
    case StmtKind::Block:
      block(static_cast<const Block&>(s));
      break;
    case StmtKind::Store: {
      const auto& store = static_cast<const Store&>(s);
      buffer(store.buffer);
      for (const Expr& index : store.indices) expr(index);
      expr(store.value);
      expr(store.mask);
      break;
    }
    case StmtKind::If:
      expr(static_cast<const If&>(s).condition);
      number(static_cast<const If&>(s).else_case() != nullptr);
      break;
    case StmtKind::Allocate: {
      const auto& allocate = static_cast<const Allocate&>(s);
      buffer(allocate.buffer);
      if (allocate.offset) number(static_cast<uint64_t>(*allocate.offset));
      break;
    }
    case StmtKind::AsyncGroup:
      break;
    case StmtKind::AsyncWait:
      number(static_cast<uint64_t>(static_cast<const AsyncWait&>(s).pending));
      break;
    case StmtKind::Barrier:
      text(static_cast<const Barrier&>(s).level);
      break;
    case StmtKind::Handover:
      text(static_cast<const Handover&>(s).axis);
      number(static_cast<uint64_t>(static_cast<const Handover&>(s).versions));
      break;
  }
  visit_children(s, [&](const Stmt& child) { stmt(child); });
}

uint64_t structural_hash(const Program& program) {
  StructuralHasher hasher;
  hasher.program(program);
  return hasher.result();
}

}  // namespace tunesmith
