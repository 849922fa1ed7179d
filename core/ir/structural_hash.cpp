#include <bit>
#include <unordered_map>

#include "tunesmith/ir/program.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

class Hasher {
 public:
  uint64_t result() const { return hash_; }

  void program(const Program& p) {
    text(p.name);
    for (const auto* list : {&p.inputs, &p.outputs, &p.intermediates}) {
      number(list->size());
      for (const Buffer& b : *list) buffer(b);
    }
    annotations(p.annotations);
    stmt(p.root());
  }

 private:
  void number(uint64_t value) { hash_ = hash_combine(hash_, value); }
  void text(std::string_view value) { number(hash_bytes(value)); }

  void type(DType t) {
    // An index counts as the i64 that it was before it had a type of its own: hashes are on record.
    const TypeCode code = t.is_index() ? TypeCode::Int : t.code;
    number(static_cast<uint64_t>(code) << 32 | static_cast<uint64_t>(t.bits) << 16 | t.lanes);
  }

  void annotations(const Annotations& facts) {
    number(facts.size());
    for (const auto& [key, value] : facts) {
      text(key);
      number(value.index());
      if (const auto* i = std::get_if<int64_t>(&value)) number(static_cast<uint64_t>(*i));
      if (const auto* d = std::get_if<double>(&value)) number(std::bit_cast<uint64_t>(*d));
      if (const auto* s = std::get_if<std::string>(&value)) text(*s);
    }
  }

  /// Variables and buffers count by their first appearance; the maps are looked up in, never walked.
  void var(const VarNode* node) {
    const auto [entry, fresh] = vars_.try_emplace(node, vars_.size());
    number(entry->second);
    if (fresh) type(node->dtype);
  }

  void buffer(const Buffer& b) {
    const auto [entry, fresh] = buffers_.try_emplace(b.get(), buffers_.size());
    number(entry->second);
    if (!fresh) return;
    text(b->name);
    type(b->dtype);
    number(b->shape.size());
    for (const int64_t extent : b->shape) number(static_cast<uint64_t>(extent));
    text(b->scope);
    number(b->constant);
    number(b->strides.size());
    for (const int64_t stride : b->strides) number(static_cast<uint64_t>(stride));
  }

  void expr(const Expr& e) {
    if (!e) return number(kAbsent);
    number(static_cast<uint64_t>(e.kind()));
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

  void stmt(const Stmt& s) {
    number(static_cast<uint64_t>(s.kind));
    switch (s.kind) {
      case StmtKind::Seq:
        number(static_cast<const Seq&>(s).children().size());
        break;
      case StmtKind::Loop: {
        const auto& loop = static_cast<const Loop&>(s);
        expr(loop.min);
        expr(loop.extent);
        var(loop.var.get());
        number(static_cast<uint64_t>(loop.loop_kind));
        text(loop.thread);
        annotations(loop.annotations);
        break;
      }
      case StmtKind::Block: {
        const auto& block = static_cast<const Block&>(s);
        text(block.name);
        number(block.iters.size());
        for (size_t i = 0; i < block.iters.size(); ++i) {
          expr(block.bindings[i]);
          var(block.iters[i].var.get());
          number(static_cast<uint64_t>(block.iters[i].extent));
          number(static_cast<uint64_t>(block.iters[i].kind));
        }
        expr(block.predicate);
        annotations(block.annotations);
        number(block.init() != nullptr);
        break;
      }
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
      case StmtKind::Allocate:
        buffer(static_cast<const Allocate&>(s).buffer);
        break;
    }
    visit_children(s, [&](const Stmt& child) { stmt(child); });
  }

  static constexpr uint64_t kAbsent = ~uint64_t{0};
  uint64_t hash_ = 0;
  std::unordered_map<const VarNode*, uint64_t> vars_;
  std::unordered_map<const BufferNode*, uint64_t> buffers_;
};

}  // namespace

uint64_t structural_hash(const Program& program) {
  Hasher hasher;
  hasher.program(program);
  return hasher.result();
}

}  // namespace tunesmith
