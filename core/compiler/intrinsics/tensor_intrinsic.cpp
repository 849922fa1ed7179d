#include "tunesmith/intrinsics/tensor_intrinsic.h"

#include <algorithm>

#include "analysis/buffer_uses.h"
#include "intrinsics/element_place.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

bool is_iterator(const Block& block, const Expr& index) {
  return std::any_of(block.iters.begin(), block.iters.end(),
                     [&](const IterVar& iter) { return iter.var.get() == index.get(); });
}

/// True if the indices are distinct iterators; 0 is allowed for an extent of 1.
bool plain_access(const Block& block, const Buffer& buffer, std::span<const Expr> indices) {
  for (size_t d = 0; d < indices.size(); ++d) {
    if (buffer->shape[d] == 1 && is_const_int(indices[d], 0)) continue;
    if (!is_iterator(block, indices[d])) return false;
    for (size_t e = 0; e < d; ++e) {
      if (indices[e].get() == indices[d].get()) return false;
    }
  }
  return true;
}

}  // namespace

size_t TensorOperand::free_dimension() const {
  return static_cast<size_t>(std::ranges::find(strides, 0) - strides.begin());
}

const Block& TensorIntrinsic::block() const { return *semantics.blocks().front(); }
const Store& TensorIntrinsic::store() const { return *body_store(block()); }

std::string TensorIntrinsic::problem() const {
  if (semantics.blocks().size() != 1) return "the semantics must be one statement";
  if (body_store(block()) == nullptr) return "the semantics must compute one array";
  std::string problem;
  std::vector<const LoadNode*> loads;
  walk_expr(store().value, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    if (load == nullptr) return;
    if (!plain_access(block(), load->buffer, load->indices()) || load->mask())
      problem = "an index of the semantics must be an axis by itself";
    for (const LoadNode* other : loads) {
      if (other->buffer == load->buffer && !equal_indices(other->indices(), load->indices()))
        problem = "the semantics must read each array in one way";
    }
    loads.push_back(load);
  });
  if (!plain_access(block(), store().buffer, store().indices))
    problem = "an index of the semantics must be an axis by itself";
  for (const Buffer& input : semantics.inputs) {
    if (std::none_of(loads.begin(), loads.end(), [&](const LoadNode* load) { return load->buffer == input; }))
      problem = "the semantics must read every input";
  }
  return problem;
}

TensorIntrinsics::TensorIntrinsics(const std::vector<TensorIntrinsicPtr>& intrinsics) {
  for (const TensorIntrinsicPtr& intrinsic : intrinsics) add(intrinsic);
}

TensorIntrinsics& TensorIntrinsics::global() {
  static TensorIntrinsics all;
  return all;
}

void TensorIntrinsics::add(TensorIntrinsicPtr intrinsic) {
  const std::lock_guard lock(mutex_);
  std::string name = intrinsic->name;
  by_name_.insert_or_assign(std::move(name), std::move(intrinsic));
}

TensorIntrinsicPtr TensorIntrinsics::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::string TensorIntrinsics::content_of(const TensorIntrinsicPtr& intrinsic) {
  const std::lock_guard lock(mutex_);
  const auto known = contents_.find(intrinsic);
  if (known != contents_.end()) return known->second;
  const std::string content = hex64(content_hash(*intrinsic));
  by_content_.emplace(content, intrinsic);
  return contents_.emplace(intrinsic, content).first->second;
}

TensorIntrinsicPtr TensorIntrinsics::find_content(std::string_view content) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_content_.find(content);
  return found == by_content_.end() ? nullptr : found->second;
}

std::vector<std::string> TensorIntrinsics::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, intrinsic] : by_name_) names.push_back(name);
  return names;
}

TensorIntrinsicPtr called_intrinsic(const Annotations& annotations,
                                    const std::vector<TensorIntrinsicPtr>& known) {
  const auto annotation = annotations.find(kTensorIntrinsic);
  if (annotation == annotations.end()) return nullptr;
  const auto* name = std::get_if<std::string>(&annotation->second);
  const auto found =
      std::ranges::find_if(known, [&](const auto& one) { return name != nullptr && one->name == *name; });
  return found == known.end() ? nullptr : *found;
}

TensorCall tensor_call(const Loop& loop) {
  const auto annotation = loop.annotations.find(kTensorContent);
  check_invariant(annotation != loop.annotations.end(), "a call of an intrinsic is an annotated loop");
  TensorCall call{TensorIntrinsics::global().find_content(std::get<std::string>(annotation->second)), {}};
  check_invariant(call.intrinsic != nullptr, "the intrinsic of a call is known");
  const auto nest = store_nest(loop);
  check_invariant(nest.has_value(), "a call of an intrinsic is loops around a store");
  std::string_view why;
  auto match = match_intrinsic(*call.intrinsic, *nest, Program(), true, &why);
  check_invariant(match.has_value(), "a call of an intrinsic computes what the intrinsic does");
  for (IntrinsicMatch::Operand& operand : match->operands)
    call.operands.push_back({operand.buffer, std::move(operand.first.front()), std::move(operand.strides),
                             std::move(operand.inside)});
  return call;
}

std::optional<std::vector<Expr>> element_indices(const TensorCall& call, size_t position,
                                                 const Analyzer& ranges) {
  const TensorCall::Operand& operand = call.operands[position];
  const Buffer& buffer = call.intrinsic->operands[position].buffer;
  Expr offset = operand.offset;
  walk_expr(call.intrinsic->store().value, [&](const Expr& part) {
    const LoadNode* read = part.as<LoadNode>();
    if (read == nullptr || read->buffer != buffer) return;
    for (size_t d = 0; d < operand.strides.size(); ++d)
      offset = offset + read->indices()[d] * operand.strides[d];
  });
  Analyzer inner = ranges;
  inner.bind(call.intrinsic->block());
  return indices_at(offset, operand.inside, *operand.buffer, inner);
}

}  // namespace tunesmith
