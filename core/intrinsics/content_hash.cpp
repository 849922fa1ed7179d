#include <bit>

#include "ir/structural_hash.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith {
namespace {

void add(StructuralHasher& hasher, const TensorOperand& operand) {
  hasher.text(operand.buffer->name);  // fragments name it
  hasher.buffer(operand.buffer);
  hasher.number(operand.strides.size());
  for (const int64_t stride : operand.strides) hasher.number(static_cast<uint64_t>(stride));
  hasher.number(static_cast<uint64_t>(operand.stride_multiple));
  hasher.number(static_cast<uint64_t>(operand.alignment));
  hasher.number(static_cast<uint64_t>(operand.swizzled));
  hasher.text(operand.scope);
  hasher.text(operand.layout);
  hasher.text(operand.registers);
}

void add(StructuralHasher& hasher, const TensorImplementation& implementation) {
  hasher.number(static_cast<uint64_t>(implementation.form));
  hasher.text(implementation.text);
  hasher.text(implementation.after);
  hasher.text(implementation.before_barrier);
  hasher.number(implementation.arguments.size());
  for (const size_t argument : implementation.arguments) hasher.number(argument);
}

}  // namespace

uint64_t content_hash(const TensorIntrinsic& intrinsic) {
  StructuralHasher hasher;
  hasher.text(intrinsic.name);
  hasher.text(intrinsic.level);
  hasher.number(intrinsic.bulk_copy);
  hasher.number(std::bit_cast<uint64_t>(intrinsic.cycles));
  hasher.program(intrinsic.semantics);
  hasher.number(intrinsic.operands.size());
  for (const TensorOperand& operand : intrinsic.operands) add(hasher, operand);
  hasher.number(intrinsic.implementations.size());
  for (const auto& [target, implementation] : intrinsic.implementations) {
    hasher.text(target);
    add(hasher, implementation);
  }
  return hasher.result();
}

}  // namespace tunesmith
