#include "api/access_list.h"

#include <algorithm>
#include <utility>

#include "api/handles.h"
#include "api/snapshot.h"
#include "tunesmith/analysis/accesses.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::api {
namespace {

uint32_t role_of(const Program& program, const Buffer& buffer) {
  const auto is_in = [&](const std::vector<Buffer>& buffers) {
    return std::ranges::find(buffers, buffer) != buffers.end();
  };
  return is_in(program.inputs)          ? TUNESMITH_BUFFER_ROLE_INPUT
         : is_in(program.outputs)       ? TUNESMITH_BUFFER_ROLE_OUTPUT
         : is_in(program.intermediates) ? TUNESMITH_BUFFER_ROLE_INTERMEDIATE
                                        : TUNESMITH_BUFFER_ROLE_ALLOCATED;
}

}  // namespace

AccessList::AccessList(const Program& program, const Block& block, const std::vector<Access>& accesses) {
  size_t indices = 0;
  for (const Access& access : accesses) indices += access.indices.size();
  // Reserved, so that pointers to elements stay valid.
  buffers_.reserve(accesses.size());
  accesses_.reserve(accesses.size());
  indices_.reserve(indices);
  used_.reserve(indices * block.iters.size());
  for (const Access& access : accesses) {
    buffers_.push_back(describe(*access.buffer, role_of(program, access.buffer)));
    const tunesmith_index* first = indices_.data() + indices_.size();
    for (const Expr& index : access.indices) indices_.push_back(index_of(index, block));
    accesses_.push_back({&buffers_.back(), {first, access.indices.size(), sizeof(tunesmith_index)}});
  }
}

tunesmith_span AccessList::span() const { return span_of(accesses_); }

tunesmith_index AccessList::index_of(const Expr& index, const Block& block) {
  const auto first = static_cast<std::ptrdiff_t>(used_.size());
  walk_expr(index, [&](const Expr& part) {
    const int iterator = part.is(ExprKind::Var) ? block.iter_index(Var::from(part)) : -1;
    const auto position = static_cast<uint32_t>(iterator);
    if (iterator >= 0 && std::find(used_.begin() + first, used_.end(), position) == used_.end())
      used_.push_back(position);
  });
  std::sort(used_.begin() + first, used_.end());
  const uint64_t count = used_.size() - static_cast<size_t>(first);
  tunesmith_index made = {TUNESMITH_INDEX_FORM_OTHER, TUNESMITH_NONE, 0, used_.data() + first, count};
  if (index.is(ExprKind::Var) && count == 1) {
    made.form = TUNESMITH_INDEX_FORM_ITERATOR;
    made.iterator = used_.back();
  }
  if (as_const_int(index, &made.constant)) made.form = TUNESMITH_INDEX_FORM_CONSTANT;
  return made;
}

IntrinsicFacts::IntrinsicFacts(TensorIntrinsicPtr intrinsic)
    : intrinsic_(std::move(intrinsic)),
      reads_(intrinsic_->semantics, intrinsic_->block(), read_accesses(intrinsic_->block())),
      writes_(intrinsic_->semantics, intrinsic_->block(), write_accesses(intrinsic_->block())),
      facts_{} {
  buffers_.reserve(intrinsic_->operands.size());
  for (const TensorOperand& operand : intrinsic_->operands) {
    buffers_.push_back(describe(*operand.buffer, role_of(intrinsic_->semantics, operand.buffer)));
    operands_.push_back({&buffers_.back(), text(operand.scope), text(operand.layout), operand.alignment});
  }
  for (const IterVar& iter : intrinsic_->block().iters)
    iterators_.push_back({TUNESMITH_NONE, number_of(iter.kind), iter.extent, TUNESMITH_NONE, 0});
  facts_.name = text(intrinsic_->name);
  facts_.level = text(intrinsic_->level);
  facts_.operands = span_of(operands_);
  facts_.iterators = span_of(iterators_);
  facts_.reads = reads_.span();
  facts_.writes = writes_.span();
  facts_.copies = intrinsic_->store().value.is(ExprKind::Load) ? 1 : 0;
  facts_.bulk_copy = intrinsic_->bulk_copy ? 1 : 0;
}

}  // namespace tunesmith::api
