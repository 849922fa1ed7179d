#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/intrinsics/call_nest.h"
#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

void check_swizzles(const TensorIntrinsic& intrinsic, const IntrinsicMatch& match) {
  for (size_t i = 0; i < match.operands.size(); ++i) {
    const Buffer& buffer = match.operands[i].buffer;
    const TensorOperand::Swizzled wanted = intrinsic.operands[i].swizzled;
    const bool swizzled = buffer->swizzle.bits > 0;
    const std::string detail = fmt::format("{} of {}", buffer->name, intrinsic.name);
    if (swizzled && wanted == TensorOperand::Swizzled::No)
      throw LowerError("call_intrinsics", "an operand is swizzled", detail);
    if (!swizzled && wanted == TensorOperand::Swizzled::Always)
      throw LowerError("call_intrinsics", "an operand is not swizzled", detail);
  }
}

/// Requires that the operands' addresses have the intrinsic's alignment.
void check_alignment(const TensorIntrinsic& intrinsic, const IntrinsicMatch& match, const Loop& loop,
                     const ExecutionModel& model) {
  const Analyzer analyzer = Analyzer::at(loop);
  for (size_t i = 0; i < match.operands.size(); ++i) {
    const int64_t alignment = intrinsic.operands[i].alignment;
    if (alignment == 1) continue;
    const IntrinsicMatch::Operand& operand = match.operands[i];
    const MemoryScope* scope = model.find_scope(operand.buffer->scope);
    const Expr rest = floormod(operand.first.front() * operand.buffer->dtype.bytes(), alignment);
    if (scope == nullptr || scope->alignment_of(*operand.buffer) % alignment != 0 ||
        !analyzer.can_prove_equal(rest, 0))
      throw LowerError("call_intrinsics", "an operand is misaligned for the intrinsic",
                       fmt::format("{} of {}, at a multiple of {} bytes", operand.buffer->name,
                                   intrinsic.name, alignment));
  }
}

void call_intrinsic(Program& program, Loop& loop, const LowerOptions& options) {
  const TensorIntrinsicPtr known = called_intrinsic(loop.annotations, options.intrinsics);
  const auto together = loop.annotations.extract(kTogetherAlong);
  loop.annotations.erase(kTensorIntrinsic);
  if (known == nullptr) return;  // the plain loops compute the same, only slower
  std::string_view why = "the block computes something else";
  const auto nest = store_nest(loop);
  const auto match =
      nest ? match_intrinsic(*known, *nest, program, true, &why) : std::optional<IntrinsicMatch>();
  if (!match) throw LowerError("call_intrinsics", why, known->name);
  check_swizzles(*known, *match);
  check_alignment(*known, *match, loop, options.execution);
  StmtPtr call = call_nest(program, known, *match);
  Loop& outermost = *call->as<Loop>();
  if (!together.empty()) outermost.annotations[kTogetherAlong] = together.mapped();
  replace(loop, std::move(call));
  Store& store = *collect<Store>(outermost).front();
  const Analyzer analyzer = Analyzer::at(store);
  rewrite_exprs(store, [&](const Expr& part) -> Expr {
    const LoadNode* access = part.as<LoadNode>();
    if (access == nullptr) return part;
    return load(access->buffer, {analyzer.simplify(access->indices()[0])}, access->mask());
  });
  store.indices[0] = analyzer.simplify(store.indices[0]);
}

/// Requires that all calls use one layout for a group's buffer.
void check_layouts(Program& program) {
  std::map<const BufferNode*, std::string> layouts;
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  for (const Loop* loop : collect<Loop>(program.root(), is_call)) {
    const TensorCall call = tensor_call(*loop);
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const TensorOperand& wanted = call.intrinsic->operands[i];
      const Buffer& buffer = call.operands[i].buffer;
      if (wanted.layout.empty()) continue;
      const auto [known, fresh] = layouts.try_emplace(buffer.get(), wanted.layout);
      if (known->second != wanted.layout)
        throw LowerError("call_intrinsics", "calls require different layouts of one buffer",
                         fmt::format("{}: {} and {}", buffer->name, known->second, wanted.layout));
    }
  }
}

}  // namespace

void call_intrinsics(Program& program, const LowerOptions& options) {
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  for (Loop* loop : collect<Loop>(program.root(), is_call)) call_intrinsic(program, *loop, options);
  check_layouts(program);
}

}  // namespace tunesmith
