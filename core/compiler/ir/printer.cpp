#include "tunesmith/ir/printer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "ir/text_form.h"
#include "support/text_scanner.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The facts after a buffer's name; `extents` is text.
std::string buffer_facts(const BufferNode& buffer, const std::string& extents) {
  std::string text = fmt::format("{}[{}]", buffer.dtype.str(), fmt::join(buffer.shape, ", "));
  if (buffer.scope != kScopeGlobal) text += " " + dotted_text(buffer.scope);
  if (buffer.constant) text += " constant";
  if (!buffer.strides.empty()) text += fmt::format(" strides [{}]", fmt::join(buffer.strides, ", "));
  const auto& [bits, to, from] = buffer.swizzle;
  if (bits > 0) text += fmt::format(" swizzle [{} bits from {} at {}]", bits, from, to);
  if (!extents.empty()) text += fmt::format(" extents [{}]", extents);
  return text;
}

/// Variables that several loops share, as copies of a statement do.
std::vector<const VarNode*> shared_variables(const Stmt& root) {
  std::vector<const VarNode*> bound;
  walk(root, [&](const Stmt& stmt) {
    if (const Loop* loop = stmt.as<Loop>()) bound.push_back(loop->var.get());
    if (const Block* block = stmt.as<Block>()) {
      for (const IterVar& iter : block->iters) bound.push_back(iter.var.get());
    }
  });
  std::ranges::sort(bound, {}, &VarNode::serial);
  std::vector<const VarNode*> shared;
  for (size_t i = 1; i < bound.size(); ++i) {
    if (bound[i] == bound[i - 1] && (shared.empty() || shared.back() != bound[i])) shared.push_back(bound[i]);
  }
  return shared;
}

/// The names of the variables or buffers in scope: a duplicate name gets a suffix.
template <typename Node>
class Names {
 public:
  const std::string& of(const Node* node) {
    const std::string* known = find(node);
    return known != nullptr ? *known : declare(node);
  }

  const std::string* find(const Node* node) const {
    const auto entry = std::ranges::find(entries_, node, &Entry::node);
    return entry == entries_.end() ? nullptr : &entry->text;
  }

  const std::string& declare(const Node* node) {
    std::string name = node->name;
    for (int suffix = 1; taken(name); ++suffix) name = fmt::format("{}_{}", node->name, suffix);
    std::string text = name_text(name);
    return entries_.emplace_back(Entry{node, std::move(name), std::move(text)}).text;
  }

  size_t mark() const { return entries_.size(); }
  void release(size_t mark) { entries_.resize(mark); }

 private:
  struct Entry {
    const Node* node = nullptr;
    std::string name;
    std::string text;
  };
  bool taken(const std::string& name) const {
    return std::ranges::find(entries_, name, &Entry::name) != entries_.end();
  }
  std::deque<Entry> entries_;  // a returned name outlives later declarations
};

class Printer {
 public:
  explicit Printer(const Stmt* marked = nullptr) : marked_(marked) {}

  std::string take() { return std::move(text_); }

  void program(const Program& p) {
    for (const VarNode* var : shared_variables(p.root())) {
      names_.declare(var);
      shared_.emplace_back(var, false);
    }
    const std::string parameters = parameters_text(p.parameters);
    const std::string inputs = buffers_text(p.inputs);
    line(fmt::format("program {}{}({}) -> ({})", p.name.empty() ? "" : name_text(p.name), parameters, inputs,
                     buffers_text(p.outputs)));
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

  /// `typed`: the context gives literals their type, so they are printed without it.
  std::string expr(const Expr& e, Strength around = kConditional, bool typed = true) {
    if (!e) return "<null>";
    const auto [text, strength] = inner_text(e, typed);
    return strength < around ? fmt::format("({})", text) : text;
  }

 private:
  struct Piece {
    std::string text;
    Strength strength;
  };

  static std::string literal(const Expr& e) {
    if (const auto* imm = e.as<FloatImm>()) return float_text(imm->value, e.dtype());
    const int64_t value = e.as<IntImm>()->value;
    if (e.dtype().is_bool()) return value ? "true" : "false";
    if (e.dtype().is_unsigned_int()) return std::to_string(static_cast<uint64_t>(value));
    return std::to_string(value);
  }

  Piece inner_text(const Expr& e, bool typed) {
    switch (e.kind()) {
      case ExprKind::IntImm:
      case ExprKind::FloatImm:
        if (typed || e.dtype().is_bool()) return {literal(e), kAtom};
        return {fmt::format("{}({})", e.dtype().str(), literal(e)), kAtom};
      case ExprKind::Var:
        return {names_.of(e.as<VarNode>()), kAtom};
      case ExprKind::Not:
        return {"not " + expr(e.arg(0), kNot), kNot};
      case ExprKind::Min:
        return {"min" + arguments(e.args(), typed || says_type(e)), kAtom};
      case ExprKind::Max:
        return {"max" + arguments(e.args(), typed || says_type(e)), kAtom};
      case ExprKind::Select:
        return {"select" + arguments(e.args(), typed || says_type(e)), kAtom};
      case ExprKind::Cast:
        return {e.dtype().str() + arguments(e.args(), false), kAtom};
      case ExprKind::Call:
        return {std::string(math_op_name(e.as<CallNode>()->op)) + arguments(e.args(), typed || says_type(e)),
                kAtom};
      case ExprKind::Ramp: {
        const std::string base = expr(e.arg(0));
        return {fmt::format("ramp({}, {}, {})", base, expr(e.arg(1)), e.dtype().lanes), kAtom};
      }
      case ExprKind::Broadcast:
        return {fmt::format("broadcast({}, {})", expr(e.arg(0), kConditional, typed), e.dtype().lanes),
                kAtom};
      case ExprKind::Load: {
        const auto* node = e.as<LoadNode>();
        std::string text = element(*node->buffer, node->indices());
        if (!node->mask()) return {std::move(text), kAtom};
        return {text + " if " + expr(node->mask(), kOr), kConditional};
      }
      default:
        return infix_text(e, typed);
    }
  }

  Piece infix_text(const Expr& e, bool typed) {
    const InfixOperator& op = *infix_operator(e.kind());
    const bool compares = op.strength == kCompare;
    if (compares) typed = says_type(e.arg(0)) || says_type(e.arg(1));
    if (!compares && !typed) typed = says_type(e);
    const auto right_of = static_cast<Strength>(op.strength + 1);
    const std::string left = expr(e.arg(0), compares ? right_of : op.strength, typed);
    const std::string_view blank = op.strength < kProduct ? " " : "";
    return {fmt::format("{}{}{}{}{}", left, blank, op.symbol, blank, expr(e.arg(1), right_of, typed)),
            op.strength};
  }

  std::string list(std::span<const Expr> items, bool typed) {
    std::string text;
    for (const Expr& item : items) text += (text.empty() ? "" : ", ") + expr(item, kConditional, typed);
    return text;
  }
  std::string arguments(std::span<const Expr> items, bool typed) {
    return fmt::format("({})", list(items, typed));
  }
  std::string element(const BufferNode& buffer, std::span<const Expr> indices) {
    const std::string& name = buffers_.of(&buffer);
    return fmt::format("{}[{}]", name, list(indices, true));
  }

  /// Prints the declaration at the first use.
  std::string buffer_text(const BufferNode& buffer) {
    if (const std::string* known = buffers_.find(&buffer)) return *known;
    std::string extents;
    for (size_t d = 0; d < buffer.extents.size(); ++d) {
      const Expr& extent = buffer.extents[d];
      extents += (d == 0 ? "" : ", ") + (extent ? expr(extent) : std::to_string(buffer.shape[d]));
    }
    return fmt::format("{}: {}", buffers_.declare(&buffer), buffer_facts(buffer, extents));
  }
  std::string parameters_text(const std::vector<ExtentParameter>& parameters) {
    std::string text;
    for (const auto& [var, typical] : parameters) {
      text += fmt::format("{}{} <= {} <= {}", text.empty() ? "" : ", ", var->lowest,
                          names_.declare(var.get()), var->highest);
      if (!typical.empty()) text += fmt::format(" typical [{}]", fmt::join(typical, ", "));
    }
    return text.empty() ? text : fmt::format("[{}]", text);
  }
  std::string buffers_text(const std::vector<Buffer>& buffers) {
    std::string text;
    for (const Buffer& buffer : buffers) text += (text.empty() ? "" : ", ") + buffer_text(*buffer);
    return text;
  }

  /// The name, with "again" if an earlier loop has the variable, too.
  std::string binding(const Var& var) {
    const auto found = std::ranges::find(shared_, var.get(), &std::pair<const VarNode*, bool>::first);
    if (found == shared_.end()) return names_.declare(var.get());
    return names_.of(var.get()) + (std::exchange(found->second, true) ? " again" : "");
  }

  void line(const std::string& content, const Stmt* of = nullptr) {
    const std::string indent(static_cast<size_t>(depth_) * 2, ' ');
    text_ += indent + content + "\n";
    if (of && of == marked_) text_ += indent + std::string(content.size(), '^') + "\n";
  }

  /// A Seq of one statement differs from the statement: a second line marks it.
  void body(const Stmt* inner) {
    stmt(inner);
    const Seq* seq = inner ? inner->as<Seq>() : nullptr;
    if (seq && seq->children().size() == 1) line("pass");
  }
  void nested(const Stmt* inner) {
    ++depth_;
    body(inner);
    --depth_;
  }

  void annotations(const Annotations& facts) {
    for (const auto& [key, value] : facts) {
      std::string text;
      if (const auto* i = std::get_if<int64_t>(&value)) text = std::to_string(*i);
      if (const auto* d = std::get_if<double>(&value)) text = float_text(*d, kF64);
      if (const auto* s = std::get_if<std::string>(&value)) text = quoted_text(*s);
      line(fmt::format("annotate {} = {}", dotted_text(key), text));
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
        std::string text = element(*store.buffer, store.indices);
        text += " = " + expr(store.value);
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
        line(fmt::format("barrier({})", dotted_text(static_cast<const Barrier&>(s).level)), &s);
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
    line(fmt::format("handover({}, versions {}):", dotted_text(h.axis), h.versions), &h);
    ++depth_;
    line("produce:");
    nested(h.produce());
    line("consume:");
    nested(h.consume());
    --depth_;
  }

  void loop(const Loop& l) {
    // The bounds are outside the variable's scope: names their free variables first.
    int64_t min = 0;
    int64_t extent = 0;
    const bool ends = as_const_int(l.min, &min) && (min == 0 || as_const_int(l.extent, &extent));
    std::string bounds = expr(l.min, kSum);
    bounds += ".." + (ends ? expr(l.min + l.extent, kSum) : "+" + expr(l.extent, kSum));
    std::string text = fmt::format("for {} in {}", binding(l.var), bounds);
    if (l.loop_kind == LoopKind::Bound) {
      text += fmt::format(" bind({})", dotted_text(l.thread));
    } else if (l.loop_kind != LoopKind::Serial) {
      text += fmt::format(" {}", loop_kind_name(l.loop_kind));
    }
    line(text + ":", &l);
    ++depth_;
    annotations(l.annotations);
    body(l.body());
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
      iters += fmt::format("{}{}: {} {} = {}", i == 0 ? "" : ", ", binding(iter.var),
                           iter_kind_name(iter.kind), iter.extent, bindings[i]);
    }
    line(fmt::format("block {}({}):", name_text(b.name), iters), &b);
    ++depth_;
    if (!always) line("where " + predicate);
    annotations(b.annotations);
    if (b.init()) {
      line("init:");
      nested(b.init());
    }
    body(b.body());
    --depth_;
  }

  const Stmt* marked_;
  Names<VarNode> names_;
  Names<BufferNode> buffers_;                            // for the whole text
  std::vector<std::pair<const VarNode*, bool>> shared_;  // and whether a loop has had it already
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
