#include <unordered_map>

#include <fmt/format.h>

#include "interp/code.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::interp {
namespace {

class Compiler {
 public:
  explicit Compiler(size_t arguments) : arguments_(arguments) {}

  ProgramCode compile(const Program& program, std::vector<int64_t> parameters) {
    for (const ExtentParameter& parameter : program.parameters) define(parameter.var);
    for (const Buffer& buffer : program.buffers()) add_buffer(buffer);
    for (const Allocate* allocate : collect<Allocate>(program.root()))
      code_.allocated[add_buffer(allocate->buffer)] = true;
    find_sharers(program);
    total_ = accesses_in(program.root());
    code_.root = stmt(program.root());
    code_.variables = code_.variable_of.size();
    for (const Buffer& buffer : code_.buffers)
      code_.extents.push_back(extents_at(*buffer, program, parameters));
    code_.packed.resize(code_.buffers.size());
    // Places in memory are those of lowered programs, whose accesses have one index.
    walk_accesses(program.root(), [&](const Stmt&, const AccessSite& access) {
      if (access.indices.size() < access.buffer->shape.size() && is_packed(program, access.buffer))
        code_.packed[slot_of(access.buffer)] = true;
    });
    code_.parameters = std::move(parameters);
    return std::move(code_);
  }

 private:
  using Counts = std::vector<size_t>;

  size_t add_buffer(const Buffer& buffer) {
    const auto [entry, fresh] = buffers_.try_emplace(buffer.get(), code_.buffers.size());
    if (fresh) {
      code_.buffers.push_back(buffer);
      code_.allocated.push_back(false);
    }
    return entry->second;
  }

  size_t slot_of(const Buffer& buffer) const {
    const auto entry = buffers_.find(buffer.get());
    if (entry == buffers_.end()) {
      throw InterpreterError(fmt::format("buffer {} is not declared by the program", buffer->name));
    }
    return entry->second;
  }

  /// Finds buffers whose planned bytes overlap. (Those of different launches never exist at the same time.)
  void find_sharers(const Program& program) {
    std::vector<const Allocate*> planned = collect<Allocate>(
        program.root(), [](const Allocate& allocate) { return allocate.offset.has_value(); });
    code_.sharers.resize(code_.buffers.size());
    for (const Allocate* one : planned) {
      for (const Allocate* other : planned) {
        if (one == other || one->buffer->scope != other->buffer->scope) continue;
        if (*one->offset >= *other->offset + other->buffer->bytes() ||
            *other->offset >= *one->offset + one->buffer->bytes())
          continue;
        code_.sharers[slot_of(one->buffer)].push_back(
            {slot_of(other->buffer), *other->offset - *one->offset});
      }
    }
  }

  /// How often each buffer, by slot, is loaded from or stored to.
  Counts accesses_in(const Stmt& root) const {
    Counts counts(code_.buffers.size());
    walk_accesses(root, [&](const Stmt&, const AccessSite& access) { ++counts[slot_of(access.buffer)]; });
    return counts;
  }

  int define(const Var& var) {
    const auto slot = static_cast<int>(code_.variable_of.size());
    code_.variable_of.push_back(var.get());
    scope_[var.get()] = slot;
    return slot;
  }

  ExprCode expr(const Expr& e, const Stmt& where) {
    ExprCode code;
    code.kind = e.kind();
    code.type = e.dtype();
    for (const Expr& arg : e.args()) code.args.push_back(expr(arg, where));
    if (!e.args().empty()) code.operands_float = e.arg(0).dtype().is_float();
    switch (e.kind()) {
      case ExprKind::IntImm:
        code.int_value = e.as<IntImm>()->value;
        break;
      case ExprKind::FloatImm:
        code.float_value = e.as<FloatImm>()->value;
        break;
      case ExprKind::Call:
        code.math = e.as<CallNode>()->op;
        break;
      case ExprKind::Var: {
        const auto entry = scope_.find(e.as<VarNode>());
        if (entry == scope_.end()) {
          throw InterpreterError(
              fmt::format("variable {} is not in scope in\n{}", to_string(e), to_string(where)));
        }
        code.slot = entry->second;
        break;
      }
      case ExprKind::Load:
        code.slot = static_cast<int>(slot_of(e.as<LoadNode>()->buffer));
        code.masked = static_cast<bool>(e.as<LoadNode>()->mask());
        break;
      default:
        break;
    }
    return code;
  }

  StmtCode stmt(const Stmt& s) {
    StmtCode code;
    code.source = &s;
    visit_exprs(s, [&](const Expr& e) { code.exprs.push_back(expr(e, s)); });
    std::vector<const VarNode*> defined;
    if (const auto* loop = s.as<Loop>()) {
      code.loop_kind = loop->loop_kind;
      code.slot = define(loop->var);
      defined.push_back(loop->var.get());
      if (const auto together = loop->annotations.find(kTogetherAlong); together != loop->annotations.end())
        code.members = members_along(std::get<std::string>(together->second), s);
      if (loop->loop_kind == LoopKind::Parallel || loop->loop_kind == LoopKind::Bound)
        code.own = own_buffers(*loop);
    } else if (const auto* block = s.as<Block>()) {
      code.has_init = block->init() != nullptr;
      for (const IterVar& iter : block->iters) {
        code.iter_slots.push_back(define(iter.var));
        defined.push_back(iter.var.get());
      }
    } else if (const auto* store = s.as<Store>()) {
      code.slot = static_cast<int>(slot_of(store->buffer));
      code.rank = store->indices.size();
      if (enclosing_block(s) != nullptr) only_where_all_exists(*store, code);
    } else if (const auto* allocate = s.as<Allocate>()) {
      code.slot = static_cast<int>(slot_of(allocate->buffer));
    }
    if (const auto* barrier = s.as<Barrier>()) code.level = barrier->level;
    if (const auto* handover = s.as<Handover>()) code.level = handover->level();
    visit_children(s, [&](const Stmt& child) {
      code.children.push_back(stmt(child));
      if (code.level.empty()) code.level = code.children.back().level;
    });
    for (const VarNode* var : defined) scope_.erase(var);
    return code;
  }

  void only_where_all_exists(const Store& store, StmtCode& code) {
    const Expr exists = existence(store);
    if (is_const_int(exists, 1)) return;
    const Expr mask = store.mask ? logical_and(exists, store.mask) : exists;
    code.exprs.resize(code.rank + 1);
    code.exprs.push_back(expr(mask, store));
  }

  std::vector<int> members_along(const std::string& axis, const Stmt& call) const {
    std::vector<int> members;
    for (const Loop* loop : loops_above(call)) {
      if (loop->loop_kind == LoopKind::Bound && loop->thread == axis)
        members.push_back(scope_.at(loop->var.get()));
    }
    return members;
  }

  std::vector<bool> own_buffers(const Loop& loop) const {
    const Counts inside = accesses_in(loop);
    std::vector<bool> own(inside.size());
    for (size_t slot = 0; slot < own.size(); ++slot) {
      own[slot] = slot >= arguments_ && !code_.allocated[slot] && inside[slot] == total_[slot];
    }
    return own;
  }

  size_t arguments_;
  ProgramCode code_;
  Counts total_;
  std::unordered_map<const BufferNode*, size_t> buffers_;
  std::unordered_map<const VarNode*, int> scope_;
};

}  // namespace

ProgramCode compile(const Program& program, std::vector<int64_t> parameters) {
  return Compiler(program.inputs.size() + program.outputs.size()).compile(program, std::move(parameters));
}

}  // namespace tunesmith::interp
