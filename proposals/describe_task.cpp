#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/proposals/sequence.h"

namespace tunesmith {
namespace {

/// "" if `expr` is not an operation.
std::string_view operation_name(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::Add:
      return "add";
    case ExprKind::Sub:
      return "sub";
    case ExprKind::Mul:
      return "mul";
    case ExprKind::Div:
    case ExprKind::FloorDiv:
      return "div";
    case ExprKind::FloorMod:
      return "mod";
    case ExprKind::Min:
      return "min";
    case ExprKind::Max:
      return "max";
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
      return "compare";
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not:
      return "logical";
    case ExprKind::Select:
      return "select";
    case ExprKind::Cast:
      return "cast";
    case ExprKind::Call:
      return math_op_name(expr.as<CallNode>()->op);
    default:
      return "";
  }
}

/// The type of the operands: a comparison of f32 values has the type f32.
DType operand_type(const Expr& expr) {
  return expr.is(ExprKind::Select) ? expr.dtype() : expr.arg(0).dtype();
}

std::vector<SequenceOperation> operations_of(const Block& block) {
  std::map<std::pair<std::string, std::string>, SequenceOperation> counted;
  const auto count = [&](const Expr& expr) {
    const std::string_view name = operation_name(expr);
    if (name.empty()) return;
    const DType type = operand_type(expr).scalar();
    // The accesses describe index arithmetic.
    if (type.is_index() && expr.dtype().is_index()) return;
    SequenceOperation& one = counted[{std::string(name), type.str()}];
    one.name = name;
    one.dtype = type;
    ++one.count;
  };
  walk(static_cast<const Stmt&>(*block.body()), [&](const Stmt& stmt) {
    if (const Store* store = stmt.as<Store>()) walk_expr(store->value, count);
    if (const If* branch = stmt.as<If>()) walk_expr(branch->condition, count);
  });
  std::vector<SequenceOperation> operations;
  for (auto& [key, one] : counted) operations.push_back(std::move(one));
  return operations;
}

class TaskDescriber {
 public:
  explicit TaskDescriber(const Program& program) : program_(program), buffers_(program.buffers()) {}

  std::vector<SequenceArray> arrays() const {
    std::vector<SequenceArray> arrays;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const BufferNode& buffer = *buffers_[i];
      arrays.push_back({role_of(i), buffer.dtype, buffer.shape, buffer.strides});
    }
    return arrays;
  }

  SequenceBlock describe(const Block& block) const {
    SequenceBlock said{block.name, {}, {}, operations_of(block)};
    Substitution iterators;
    for (const IterVar& iterator : block.iters) {
      iterators.set(iterator.var, Var(fmt::format("i{}", said.iterators.size())));
      said.iterators.push_back({iterator.kind, iterator.extent});
    }
    const auto add = [&](const std::vector<Access>& accesses, bool writes) {
      for (const Access& access : accesses) {
        std::vector<std::string> indices;
        for (const Expr& index : substitute(access.indices, iterators)) indices.push_back(to_string(index));
        said.accesses.push_back(
            {writes, number_of(access.buffer), fmt::format("{}", fmt::join(indices, ", "))});
      }
    };
    add(write_accesses(block), true);
    add(read_accesses(block), false);
    return said;
  }

 private:
  SequenceArray::Role role_of(size_t number) const {
    const size_t inputs = program_.inputs.size();
    if (number < inputs)
      return buffers_[number]->constant ? SequenceArray::Role::Constant : SequenceArray::Role::Input;
    return number < inputs + program_.outputs.size() ? SequenceArray::Role::Output
                                                     : SequenceArray::Role::Intermediate;
  }
  size_t number_of(const Buffer& buffer) const {
    const auto found = std::ranges::find(buffers_, buffer);
    check_invariant(found != buffers_.end(), "a block accesses buffers of its program");
    return static_cast<size_t>(found - buffers_.begin());
  }

  const Program& program_;
  const std::vector<Buffer> buffers_;
};

}  // namespace

SequenceTask describe_task(const Program& program, const DeviceModel& device) {
  const TaskDescriber describer(program);
  SequenceTask task;
  for (const auto& [name, value] : device.all()) task.machine[name] = value;
  task.arrays = describer.arrays();
  for (const Block* block : program.blocks()) task.blocks.push_back(describer.describe(*block));
  return task;
}

}  // namespace tunesmith
