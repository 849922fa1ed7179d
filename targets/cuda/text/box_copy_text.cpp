#include "text/box_copy_text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {
namespace {

/// Elements of 16 bits in the 16 bytes at whose multiples rows begin.
constexpr int64_t kRowUnit = 8;

/// A tensor, and the indices of the first element of a box of it, both the innermost dimension first.
struct Box {
  BoxedTensor tensor;
  std::vector<Expr> first;
};

/// Of a map, whose numbers have 32 bits.
unsigned size_of(int64_t value, const Buffer& buffer) {
  if (value > std::numeric_limits<unsigned>::max())
    throw LowerError("cuda", "a bulk copy reads a tensor whose strides have more than 32 bits", buffer->name);
  return static_cast<unsigned>(value);
}

LowerError no_box(const Buffer& buffer) {
  return LowerError("cuda", "what a bulk copy fetches is no box of a tensor", buffer->name);
}

/// The buffer as rows of the operand's stride.
Box box_of_rows(const TensorCall::Operand& operand, const std::vector<int64_t>& box, const Analyzer& ranges) {
  const Buffer& buffer = operand.buffer;
  const int64_t length = operand.strides[0];
  const Expr column = ranges.simplify(floormod(operand.offset, length));
  if (buffer->span() % length != 0 || !ranges.can_prove(le(column + box[1], length))) throw no_box(buffer);
  const auto size = [&](int64_t value) { return size_of(value, buffer); };
  return {BoxedTensor::dense({size(length), size(buffer->span() / length)}, {size(box[1]), size(box[0])}),
          {column, ranges.simplify(floordiv(operand.offset, length))}};
}

/// The semantics' iterators over the operand's rows and columns.
std::vector<Expr> iterators_of(const TensorIntrinsic& intrinsic, const Buffer& operand) {
  std::vector<Expr> iterators;
  walk_expr(intrinsic.store().value, [&](const Expr& part) {
    const LoadNode* read = part.as<LoadNode>();
    if (read != nullptr && read->buffer == operand)
      iterators.assign(read->indices().begin(), read->indices().end());
  });
  return iterators;
}

/// The buffer in its own dimensions, outside of which elements are zeros.
Box box_of_tensor(const TensorCall& call, size_t position, const Analyzer& ranges) {
  const Buffer& buffer = call.operands[position].buffer;
  const std::vector<int64_t>& box = call.intrinsic->operands[position].buffer->shape;
  const auto indices = element_indices(call, position, ranges);
  const std::vector<int64_t> strides = buffer->effective_strides();
  if (!indices || strides.back() != 1)
    throw LowerError("cuda", "the elements outside of a tensor that a bulk copy reads are not its zeros",
                     buffer->name);
  Substitution begin;
  for (const IterVar& iter : call.intrinsic->block().iters) begin.set(iter.var, Expr(0));
  const std::vector<Expr> iterators =
      iterators_of(*call.intrinsic, call.intrinsic->operands[position].buffer);
  int dimensions_of_rows = 0;
  Box result;
  for (size_t d = strides.size(); d-- > 0;) {
    const Expr first = ranges.simplify(substitute((*indices)[d], begin));
    if (buffer->shape[d] == 1 && is_const_int(first, 0) && d + 1 < strides.size()) continue;
    BoxedTensor& tensor = result.tensor;
    if (tensor.rank == BoxedTensor::kMaxRank)
      throw LowerError("cuda", "a bulk copy reads a tensor of more than four dimensions", buffer->name);
    if (tensor.rank > 0 && strides[d] % kRowUnit != 0)
      throw LowerError("cuda",
                       "rows of a tensor that a bulk copy reads do not begin at multiples of 16 bytes",
                       buffer->name);
    const bool moves = tensor.rank > 0 && uses_var((*indices)[d], Var::from(iterators[0]));
    const Expr moved = tensor.rank == 0 ? iterators[1] : moves ? iterators[0] : Expr(0);
    if (!ranges.can_prove_equal((*indices)[d], first + moved)) throw no_box(buffer);
    dimensions_of_rows += moves ? 1 : 0;
    tensor.extents[tensor.rank] = size_of(buffer->shape[d], buffer);
    tensor.strides[tensor.rank] = size_of(strides[d], buffer);
    tensor.box[tensor.rank] = size_of(tensor.rank == 0 ? box[1] : moves ? box[0] : 1, buffer);
    result.first.push_back(first);
    ++tensor.rank;
  }
  if (dimensions_of_rows != 1) throw no_box(buffer);
  return result;
}

}  // namespace

BoxPlace box_place(const TensorCall& call, size_t position, const Analyzer& ranges, Names& names,
                   ExprText& exprs, BoxCopies& copies) {
  const TensorOperand& declared = call.intrinsic->operands[position];
  const TensorCall::Operand& operand = call.operands[position];
  const Buffer& buffer = operand.buffer;
  if (copies.arrival.empty())
    throw LowerError("cuda", "a bulk copy stands outside of a pipeline with a producer", buffer->name);
  const std::vector<int64_t>& shape = declared.buffer->shape;
  if (shape.size() != 2 || declared.free_dimension() != 0 || buffer->dtype.bytes() != 2)
    throw LowerError("cuda", "a bulk copy is not of rows of 16-bit elements", call.intrinsic->name);
  const Box box =
      operand.inside ? box_of_tensor(call, position, ranges) : box_of_rows(operand, shape, ranges);
  auto map = std::ranges::find_if(copies.maps, [&](const MappedTensor& known) {
    return known.buffer == buffer && known.tensor == box.tensor;
  });
  if (map == copies.maps.end())
    map = copies.maps.insert(map, {buffer, names.fresh(buffer->name + "_map"), box.tensor});
  std::vector<std::string> place;
  for (const Expr& index : box.first) place.push_back(exprs.text(index, ranges));
  return {map->name, fmt::format("tma_load_{}d", box.tensor.rank), fmt::format("{}", fmt::join(place, ", "))};
}

}  // namespace tunesmith::cuda
