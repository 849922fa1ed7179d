#include "tunesmith/ir/printer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// Binding strengths, from a conditional, which needs parentheses everywhere, to what never does.
enum Strength { kConditional, kOr, kAnd, kNot, kCompare, kSum, kProduct, kAtom };

struct Operator {
  const char* text;
  Strength strength;
};

/// {nullptr, kAtom} for kinds that are not infix.
Operator infix(ExprKind kind) {
  switch (kind) {
    case ExprKind::Or:
      return {" or ", kOr};
    case ExprKind::And:
      return {" and ", kAnd};
    case ExprKind::Eq:
      return {" == ", kCompare};
    case ExprKind::Ne:
      return {" != ", kCompare};
    case ExprKind::Lt:
      return {" < ", kCompare};
    case ExprKind::Le:
      return {" <= ", kCompare};
    case ExprKind::Add:
      return {" + ", kSum};
    case ExprKind::Sub:
      return {" - ", kSum};
    case ExprKind::Mul:
      return {"*", kProduct};
    case ExprKind::Div:
      return {"/", kProduct};
    case ExprKind::FloorDiv:
      return {"//", kProduct};
    case ExprKind::FloorMod:
      return {"%", kProduct};
    default:
      return {nullptr, kAtom};
  }
}

std::string float_text(double value, DType type) {
  if (std::isnan(value)) return "nan";
  std::string text =
      type.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string buffer_text(const BufferNode& buffer) {
  std::string text =
      fmt::format("{}: {}[{}]", buffer.name, buffer.dtype.str(), fmt::join(buffer.shape, ", "));
  if (buffer.scope != kScopeGlobal) text += " " + buffer.scope;
  if (buffer.constant) text += " constant";
  if (!buffer.strides.empty()) text += fmt::format(" strides [{}]", fmt::join(buffer.strides, ", "));
  const auto& [bits, to, from] = buffer.swizzle;
  if (bits > 0) text += fmt::format(" swizzle [{} bits from {} at {}]", bits, from, to);
  return text;
}

std::string buffers_text(const std::vector<Buffer>& buffers) {
  std::string text;
  for (const Buffer& buffer : buffers) text += (text.empty() ? "" : ", ") + buffer_text(*buffer);
  return text;
}

/// The names of the variables in scope: a variable whose name another one has gets a suffix.
class Names {
 public:
  const std::string& of(const VarNode* var) {
    for (const Entry& entry : entries_) {
      if (entry.var == var) return entry.text;
    }
    return declare(var);
  }

  const std::string& declare(const VarNode* var) {
    std::string text = var->name;
    for (int suffix = 1; taken(text); ++suffix) text = fmt::format("{}_{}", var->name, suffix);
    return entries_.emplace_back(Entry{var, std::move(text)}).text;
  }

  size_t mark() const { return entries_.size(); }
  void release(size_t mark) { entries_.resize(mark); }

 private:
  struct Entry {
    const VarNode* var = nullptr;
    std::string text;
  };
  bool taken(const std::string& text) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.text == text; });
  }
  std::vector<Entry> entries_;
};

class Printer {
 public:
  explicit Printer(const Stmt* marked = nullptr) : marked_(marked) {}

  std::string take() { return std::move(text_); }

  void program(const Program& p) {
    line(fmt::format("program {}({}) -> ({})", p.name, buffers_text(p.inputs), buffers_text(p.outputs)));
    ++depth_;
    for (const Buffer& buffer : p.intermediates) line("intermediate " + buffer_text(*buffer));
    annotations(p.annotations);
    stmt(&p.root());
    --depth_;
  }

  void stmt(const Stmt* s) {
    if (!s) return line("pass");
    const auto* seq = s->as<Seq>();
    if (!seq) {
      one(*s);
    } else if (seq->children().empty()) {
      line("pass", s);
    } else {
      if (seq == marked_) marked_ = seq->children()[0].get();
      for (const StmtPtr& child : seq->children()) one(*child);
    }
  }

  std::string expr(const Expr& e, Strength around = kConditional) {
    if (!e) return "<null>";
    const auto [text, strength] = inner_text(e);
    return strength < around ? fmt::format("({})", text) : text;
  }

 private:
  struct Piece {
    std::string text;
    Strength strength;
  };

  Piece inner_text(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::IntImm: {
        const int64_t value = e.as<IntImm>()->value;
        if (e.dtype().is_bool()) return {value ? "true" : "false", kAtom};
        if (e.dtype().is_unsigned_int()) return {std::to_string(static_cast<uint64_t>(value)), kAtom};
        return {std::to_string(value), kAtom};
      }
      case ExprKind::FloatImm:
        return {float_text(e.as<FloatImm>()->value, e.dtype()), kAtom};
      case ExprKind::Var:
        return {names_.of(e.as<VarNode>()), kAtom};
      case ExprKind::Not:
        return {"not " + expr(e.arg(0), kNot), kNot};
      case ExprKind::Min:
        return {"min" + arguments(e.args()), kAtom};
      case ExprKind::Max:
        return {"max" + arguments(e.args()), kAtom};
      case ExprKind::Select:
        return {"select" + arguments(e.args()), kAtom};
      case ExprKind::Cast:
        return {e.dtype().str() + arguments(e.args()), kAtom};
      case ExprKind::Call:
        return {std::string(math_op_name(e.as<CallNode>()->op)) + arguments(e.args()), kAtom};
      case ExprKind::Ramp:
        return {fmt::format("ramp({}, {}, {})", expr(e.arg(0)), expr(e.arg(1)), e.dtype().lanes), kAtom};
      case ExprKind::Broadcast:
        return {fmt::format("broadcast({}, {})", expr(e.arg(0)), e.dtype().lanes), kAtom};
      case ExprKind::Load: {
        const auto* node = e.as<LoadNode>();
        std::string text = element(*node->buffer, node->indices());
        if (!node->mask()) return {std::move(text), kAtom};
        return {text + " if " + expr(node->mask(), kOr), kConditional};
      }
      default:
        return infix_text(e);
    }
  }

  Piece infix_text(const Expr& e) {
    const Operator op = infix(e.kind());
    const bool comparison = op.strength == kCompare;
    const auto right_of = static_cast<Strength>(op.strength + 1);
    const std::string left = expr(e.arg(0), comparison ? right_of : op.strength);
    const auto* imm = e.arg(1).as<IntImm>();
    if (e.is(ExprKind::Add) && imm && imm->value < 0 && imm->value != INT64_MIN) {
      return {fmt::format("{} - {}", left, -imm->value), op.strength};
    }
    return {left + op.text + expr(e.arg(1), right_of), op.strength};
  }

  std::string list(std::span<const Expr> items) {
    std::string text;
    for (const Expr& item : items) text += (text.empty() ? "" : ", ") + expr(item);
    return text;
  }
  std::string arguments(std::span<const Expr> items) { return fmt::format("({})", list(items)); }
  std::string element(const BufferNode& buffer, std::span<const Expr> indices) {
    return fmt::format("{}[{}]", buffer.name, list(indices));
  }

  void line(const std::string& content, const Stmt* of = nullptr) {
    const std::string indent(static_cast<size_t>(depth_) * 2, ' ');
    text_ += indent + content + "\n";
    if (of && of == marked_) text_ += indent + std::string(content.size(), '^') + "\n";
  }

  void nested(const Stmt* body) {
    ++depth_;
    stmt(body);
    --depth_;
  }

  void annotations(const Annotations& facts) {
    for (const auto& [key, value] : facts) {
      std::string text;
      if (const auto* i = std::get_if<int64_t>(&value)) text = std::to_string(*i);
      if (const auto* d = std::get_if<double>(&value)) text = float_text(*d, kF64);
      if (const auto* s = std::get_if<std::string>(&value)) text = "\"" + *s + "\"";
      line(fmt::format("annotate {} = {}", key, text));
    }
  }

  void one(const Stmt& s) {
    const size_t scope = names_.mark();
    switch (s.kind) {
      case StmtKind::Seq:
        stmt(&s);
        return;
      case StmtKind::Loop:
        loop(static_cast<const Loop&>(s));
        break;
      case StmtKind::Block:
        block(static_cast<const Block&>(s));
        break;
      case StmtKind::Store: {
        const auto& store = static_cast<const Store&>(s);
        std::string text = element(*store.buffer, store.indices) + " = " + expr(store.value);
        if (store.mask) text += " where " + expr(store.mask);
        line(text, &s);
        return;
      }
      case StmtKind::If: {
        const auto& branch = static_cast<const If&>(s);
        line("if " + expr(branch.condition) + ":", &s);
        nested(branch.then_case());
        if (branch.else_case()) {
          line("else:");
          nested(branch.else_case());
        }
        return;
      }
      case StmtKind::Allocate: {
        const auto& allocate = static_cast<const Allocate&>(s);
        const std::string place = allocate.offset ? fmt::format(" at {}", *allocate.offset) : "";
        line("alloc " + buffer_text(*allocate.buffer) + place + ":", &s);
        nested(allocate.body());
        return;
      }
      case StmtKind::Barrier:
        line(fmt::format("barrier({})", static_cast<const Barrier&>(s).level), &s);
        return;
      case StmtKind::AsyncGroup:
        line("async:", &s);
        nested(static_cast<const AsyncGroup&>(s).body());
        return;
      case StmtKind::AsyncWait:
        line(fmt::format("async_wait({})", static_cast<const AsyncWait&>(s).pending), &s);
        return;
      case StmtKind::Handover:
        return handover(static_cast<const Handover&>(s));
    }
    names_.release(scope);
  }

  void handover(const Handover& h) {
    line(fmt::format("handover({}, versions {}):", h.axis, h.versions), &h);
    ++depth_;
    line("produce:");
    nested(h.produce());
    line("consume:");
    nested(h.consume());
    --depth_;
  }

  void loop(const Loop& l) {
    // The bounds are outside the variable's scope: their free variables are named first.
    std::string bounds = expr(l.min, kSum) + ".." + expr(l.min + l.extent, kSum);
    std::string text = fmt::format("for {} in {}", names_.declare(l.var.get()), bounds);
    if (l.loop_kind == LoopKind::Bound) {
      text += fmt::format(" bind({})", l.thread);
    } else if (l.loop_kind != LoopKind::Serial) {
      text += fmt::format(" {}", loop_kind_name(l.loop_kind));
    }
    line(text + ":", &l);
    ++depth_;
    annotations(l.annotations);
    stmt(l.body());
    --depth_;
  }

  void block(const Block& b) {
    std::vector<std::string> bindings;
    for (const Expr& binding : b.bindings) bindings.push_back(expr(binding));
    const bool always = is_const_int(b.predicate, 1);
    const std::string predicate = always ? "" : expr(b.predicate);
    std::string iters;
    for (size_t i = 0; i < b.iters.size(); ++i) {
      const IterVar& iter = b.iters[i];
      iters += fmt::format("{}{}: {} {} = {}", i == 0 ? "" : ", ", names_.declare(iter.var.get()),
                           iter_kind_name(iter.kind), iter.extent, bindings[i]);
    }
    line(fmt::format("block {}({}):", b.name, iters), &b);
    ++depth_;
    if (!always) line("where " + predicate);
    annotations(b.annotations);
    if (b.init()) {
      line("init:");
      nested(b.init());
    }
    stmt(b.body());
    --depth_;
  }

  const Stmt* marked_;
  Names names_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string to_string(const Expr& expr) { return Printer().expr(expr); }

std::string to_string(const Program& program, const Stmt* mark) {
  Printer printer(mark);
  printer.program(program);
  return printer.take();
}

std::string to_string(const Stmt& stmt, const Stmt* mark) {
  Printer printer(mark);
  printer.stmt(&stmt);
  return printer.take();
}

}  // namespace tunesmith
