#include "api/snapshot.h"

#include <utility>

#include "tunesmith/ir/visit.h"

namespace tunesmith::api {
namespace {

uint16_t number_of_expr(ExprKind kind) {
  switch (kind) {
    case ExprKind::IntImm:
      return TUNESMITH_EXPRESSION_KIND_INTEGER;
    case ExprKind::FloatImm:
      return TUNESMITH_EXPRESSION_KIND_REAL;
    case ExprKind::Var:
      return TUNESMITH_EXPRESSION_KIND_VARIABLE;
    case ExprKind::Add:
      return TUNESMITH_EXPRESSION_KIND_ADD;
    case ExprKind::Sub:
      return TUNESMITH_EXPRESSION_KIND_SUBTRACT;
    case ExprKind::Mul:
      return TUNESMITH_EXPRESSION_KIND_MULTIPLY;
    case ExprKind::Div:
      return TUNESMITH_EXPRESSION_KIND_DIVIDE;
    case ExprKind::FloorDiv:
      return TUNESMITH_EXPRESSION_KIND_FLOOR_DIVIDE;
    case ExprKind::FloorMod:
      return TUNESMITH_EXPRESSION_KIND_FLOOR_MODULO;
    case ExprKind::Min:
      return TUNESMITH_EXPRESSION_KIND_MINIMUM;
    case ExprKind::Max:
      return TUNESMITH_EXPRESSION_KIND_MAXIMUM;
    case ExprKind::Eq:
      return TUNESMITH_EXPRESSION_KIND_EQUAL;
    case ExprKind::Ne:
      return TUNESMITH_EXPRESSION_KIND_NOT_EQUAL;
    case ExprKind::Lt:
      return TUNESMITH_EXPRESSION_KIND_LESS;
    case ExprKind::Le:
      return TUNESMITH_EXPRESSION_KIND_LESS_EQUAL;
    case ExprKind::And:
      return TUNESMITH_EXPRESSION_KIND_AND;
    case ExprKind::Or:
      return TUNESMITH_EXPRESSION_KIND_OR;
    case ExprKind::Not:
      return TUNESMITH_EXPRESSION_KIND_NOT;
    case ExprKind::Select:
      return TUNESMITH_EXPRESSION_KIND_SELECT;
    case ExprKind::Cast:
      return TUNESMITH_EXPRESSION_KIND_CAST;
    case ExprKind::Call:
      return TUNESMITH_EXPRESSION_KIND_CALL;
    case ExprKind::Load:
      return TUNESMITH_EXPRESSION_KIND_LOAD;
    case ExprKind::Ramp:
      return TUNESMITH_EXPRESSION_KIND_RAMP;
    case ExprKind::Broadcast:
      return TUNESMITH_EXPRESSION_KIND_BROADCAST;
  }
  throw InternalError("an expression has no kind");
}

int64_t number_of_math(MathOp op) {
  switch (op) {
    case MathOp::Exp:
      return TUNESMITH_MATH_EXP;
    case MathOp::Log:
      return TUNESMITH_MATH_LOG;
    case MathOp::Tanh:
      return TUNESMITH_MATH_TANH;
    case MathOp::Erf:
      return TUNESMITH_MATH_ERF;
    case MathOp::Sqrt:
      return TUNESMITH_MATH_SQRT;
    case MathOp::Rsqrt:
      return TUNESMITH_MATH_RSQRT;
    case MathOp::Pow:
      return TUNESMITH_MATH_POW;
    case MathOp::Abs:
      return TUNESMITH_MATH_ABS;
    case MathOp::Sigmoid:
      return TUNESMITH_MATH_SIGMOID;
    case MathOp::Floor:
      return TUNESMITH_MATH_FLOOR;
    case MathOp::Ceil:
      return TUNESMITH_MATH_CEIL;
    case MathOp::RoundTf32:
      return TUNESMITH_MATH_ROUND_TF32;
    case MathOp::Sin:
      return TUNESMITH_MATH_SIN;
    case MathOp::Cos:
      return TUNESMITH_MATH_COS;
    case MathOp::BitAnd:
      return TUNESMITH_MATH_BIT_AND;
    case MathOp::BitOr:
      return TUNESMITH_MATH_BIT_OR;
    case MathOp::BitXor:
      return TUNESMITH_MATH_BIT_XOR;
    case MathOp::ShiftLeft:
      return TUNESMITH_MATH_SHIFT_LEFT;
    case MathOp::ShiftRight:
      return TUNESMITH_MATH_SHIFT_RIGHT;
    case MathOp::RoundEven:
      return TUNESMITH_MATH_ROUND_EVEN;
  }
  throw InternalError("an elementwise function has no number");
}

uint8_t number_of_type(TypeCode code) {
  switch (code) {
    case TypeCode::Bool:
      return TUNESMITH_TYPE_CODE_BOOLEAN;
    case TypeCode::Int:
      return TUNESMITH_TYPE_CODE_SIGNED;
    case TypeCode::UInt:
      return TUNESMITH_TYPE_CODE_UNSIGNED;
    case TypeCode::Float:
      return TUNESMITH_TYPE_CODE_FLOAT;
    case TypeCode::BFloat:
      return TUNESMITH_TYPE_CODE_BRAIN_FLOAT;
    case TypeCode::Index:
      return TUNESMITH_TYPE_CODE_INDEX;
  }
  throw InternalError("a type has no code");
}

tunesmith_type type_of(DType type) { return {number_of_type(type.code), type.bits, type.lanes}; }

uint32_t count_of(size_t size) { return static_cast<uint32_t>(size); }

tunesmith_statement empty_statement() {
  tunesmith_statement made = {};
  for (uint32_t* position : {&made.id, &made.parent, &made.variable, &made.minimum, &made.extent,
                             &made.condition, &made.value, &made.buffer})
    *position = TUNESMITH_NONE;
  return made;
}

}  // namespace

uint32_t number_of(LoopKind kind) {
  switch (kind) {
    case LoopKind::Serial:
      return TUNESMITH_LOOP_KIND_SERIAL;
    case LoopKind::Parallel:
      return TUNESMITH_LOOP_KIND_PARALLEL;
    case LoopKind::Vectorized:
      return TUNESMITH_LOOP_KIND_VECTORIZED;
    case LoopKind::Unrolled:
      return TUNESMITH_LOOP_KIND_UNROLLED;
    case LoopKind::Bound:
      return TUNESMITH_LOOP_KIND_BOUND;
  }
  throw InternalError("a loop has no kind");
}

uint32_t number_of(IterKind kind) {
  switch (kind) {
    case IterKind::Spatial:
      return TUNESMITH_ITERATOR_KIND_SPATIAL;
    case IterKind::Reduction:
      return TUNESMITH_ITERATOR_KIND_REDUCTION;
    case IterKind::Opaque:
      return TUNESMITH_ITERATOR_KIND_OPAQUE;
  }
  throw InternalError("an iterator has no kind");
}

uint32_t number_of(StmtKind kind) {
  switch (kind) {
    case StmtKind::Seq:
      return TUNESMITH_STATEMENT_KIND_SEQUENCE;
    case StmtKind::Loop:
      return TUNESMITH_STATEMENT_KIND_LOOP;
    case StmtKind::Block:
      return TUNESMITH_STATEMENT_KIND_BLOCK;
    case StmtKind::Store:
      return TUNESMITH_STATEMENT_KIND_STORE;
    case StmtKind::If:
      return TUNESMITH_STATEMENT_KIND_IF;
    case StmtKind::Allocate:
      return TUNESMITH_STATEMENT_KIND_ALLOCATE;
    case StmtKind::Barrier:
      return TUNESMITH_STATEMENT_KIND_BARRIER;
    case StmtKind::AsyncGroup:
      return TUNESMITH_STATEMENT_KIND_ASYNC_GROUP;
    case StmtKind::AsyncWait:
      return TUNESMITH_STATEMENT_KIND_ASYNC_WAIT;
    case StmtKind::Handover:
      return TUNESMITH_STATEMENT_KIND_HANDOVER;
  }
  throw InternalError("a statement has no kind");
}

tunesmith_buffer describe(const BufferNode& buffer, uint32_t role) {
  return {text(buffer.name),        text(buffer.scope),
          buffer.shape.data(),      count_of(buffer.shape.size()),
          type_of(buffer.dtype),    role,
          buffer.constant ? 1U : 0U};
}

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(Snapshot& snapshot) : to_(snapshot) {}

  void build(const Program& program) {
    const auto add_all = [&](const std::vector<Buffer>& buffers, uint32_t role) {
      for (const Buffer& buffer : buffers) add_buffer(buffer, role);
    };
    add_all(program.inputs, TUNESMITH_BUFFER_ROLE_INPUT);
    add_all(program.outputs, TUNESMITH_BUFFER_ROLE_OUTPUT);
    add_all(program.intermediates, TUNESMITH_BUFFER_ROLE_INTERMEDIATE);
    to_.name = keep(program.name);
    to_.program_annotations = annotations(program.annotations);
    statement(program.root(), TUNESMITH_NONE);
    to_.size = sizeof(tunesmith_snapshot);
    to_.statements = span_of(to_.statements_);
    to_.expressions = span_of(to_.expressions_);
    to_.variables = span_of(to_.variables_);
    to_.iterators = span_of(to_.iterators_);
    to_.buffers = span_of(to_.buffers_);
    to_.annotations = span_of(to_.annotations_);
    to_.links = span_of(to_.links_);
  }

 private:
  tunesmith_text keep(const std::string& text_of_the_program) {
    return text(to_.texts_.emplace_back(text_of_the_program));
  }

  uint32_t add_buffer(const Buffer& buffer, uint32_t role) {
    buffers_.emplace(buffer.get(), count_of(to_.buffers_.size()));
    to_.kept_buffers_.push_back(buffer);
    to_.buffers_.push_back(describe(*buffer, role));
    return count_of(to_.buffers_.size() - 1);
  }

  uint32_t buffer(const Buffer& of) {
    const auto known = buffers_.find(of.get());
    return known != buffers_.end() ? known->second : add_buffer(of, TUNESMITH_BUFFER_ROLE_ALLOCATED);
  }

  uint32_t variable(const Var& of) {
    const auto [known, is_new] = variables_.try_emplace(of.get(), count_of(to_.variables_.size()));
    if (is_new) {
      to_.kept_variables_.push_back(of);
      to_.variables_.push_back({text(of->name), type_of(of->dtype), 0});
    }
    return known->second;
  }

  tunesmith_range annotations(const Annotations& of) {
    const tunesmith_range range{count_of(to_.annotations_.size()), count_of(of.size())};
    for (const auto& [key, value] : of) {
      tunesmith_value held = value_of(value);
      if (held.tag == TUNESMITH_TAG_TEXT)
        held = value_of(std::string_view(keep(std::get<std::string>(value)).data, held.count));
      to_.annotations_.push_back({keep(key), held});
    }
    return range;
  }

  tunesmith_range link(const std::vector<uint32_t>& positions) {
    const tunesmith_range range{count_of(to_.links_.size()), count_of(positions.size())};
    to_.links_.insert(to_.links_.end(), positions.begin(), positions.end());
    return range;
  }

  tunesmith_range expressions(std::span<const Expr> of) {
    std::vector<uint32_t> positions;
    positions.reserve(of.size());
    for (const Expr& each : of) positions.push_back(expression(each));
    return link(positions);
  }

  /// TUNESMITH_NONE if null.
  uint32_t expression(const Expr& of) {
    if (!of) return TUNESMITH_NONE;
    tunesmith_expression made = {
        number_of_expr(of.kind()), 0, type_of(of.dtype()), expressions(of.args()), {}};
    if (const auto* whole = of.as<IntImm>()) made.as.integer = whole->value;
    if (const auto* real = of.as<FloatImm>()) made.as.real = real->value;
    if (of.is(ExprKind::Var)) made.as.integer = variable(Var::from(of));
    if (const auto* call = of.as<CallNode>()) made.as.integer = number_of_math(call->op);
    if (const auto* load = of.as<LoadNode>()) {
      made.as.integer = buffer(load->buffer);
      made.indices = static_cast<uint16_t>(load->rank);
    }
    to_.expressions_.push_back(made);
    return count_of(to_.expressions_.size() - 1);
  }

  /// Adds the statement and its descendants, parents first.
  uint32_t statement(const Stmt& of, uint32_t parent) {
    const uint32_t position = count_of(to_.statements_.size());
    to_.statements_.push_back(empty_statement());
    tunesmith_statement made = empty_statement();
    made.kind = number_of(of.kind);
    made.parent = parent;
    if (const Loop* loop = of.as<Loop>()) describe_loop(*loop, made);
    if (const Block* block = of.as<Block>()) describe_block(*block, made);
    if (const Store* store = of.as<Store>()) describe_store(*store, made);
    if (const If* branch = of.as<If>()) made.condition = expression(branch->condition);
    if (const Allocate* allocation = of.as<Allocate>()) made.buffer = buffer(allocation->buffer);
    if (const Barrier* barrier = of.as<Barrier>()) made.name = keep(barrier->level);
    if (const AsyncWait* wait = of.as<AsyncWait>()) made.pending = wait->pending;
    if (const Handover* handover = of.as<Handover>()) {
      made.name = keep(handover->axis);
      made.versions = handover->versions;
    }
    std::vector<uint32_t> children;
    visit_children(of, [&](const Stmt& child) { children.push_back(statement(child, position)); });
    made.children = link(children);
    to_.statements_[position] = made;
    return position;
  }

  void describe_loop(const Loop& loop, tunesmith_statement& made) {
    made.id = static_cast<uint32_t>(loop.id);
    made.name = keep(loop.thread);
    made.annotations = annotations(loop.annotations);
    made.loop_kind = number_of(loop.loop_kind);
    made.variable = variable(loop.var);
    made.minimum = expression(loop.min);
    made.extent = expression(loop.extent);
  }

  void describe_block(const Block& block, tunesmith_statement& made) {
    made.id = static_cast<uint32_t>(block.id);
    made.name = keep(block.name);
    made.annotations = annotations(block.annotations);
    made.init = block.init() != nullptr ? 1 : 0;
    made.condition = expression(block.predicate);
    made.iterators = {count_of(to_.iterators_.size()), count_of(block.iters.size())};
    for (size_t i = 0; i < block.iters.size(); ++i) {
      const IterVar& iter = block.iters[i];
      to_.iterators_.push_back(
          {variable(iter.var), number_of(iter.kind), iter.extent, expression(block.bindings[i]), 0});
    }
  }

  void describe_store(const Store& store, tunesmith_statement& made) {
    made.buffer = buffer(store.buffer);
    made.indices = expressions(store.indices);
    made.value = expression(store.value);
    made.condition = expression(store.mask);
  }

  Snapshot& to_;
  std::unordered_map<const BufferNode*, uint32_t> buffers_;
  std::unordered_map<const VarNode*, uint32_t> variables_;
};

Snapshot::Snapshot(const Program& program) : tunesmith_snapshot{} { SnapshotBuilder(*this).build(program); }

void retain(Snapshot& snapshot) { snapshot.references.fetch_add(1, std::memory_order_relaxed); }

void release(Snapshot* snapshot) {
  if (snapshot != nullptr && snapshot->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete snapshot;
}

}  // namespace tunesmith::api

void tunesmith_program::forget() {
  tunesmith::api::release(std::exchange(snapshot, nullptr));
  buffers.clear();
  blocks.clear();
  loops.clear();
  accesses.clear();
  products.clear();
}
