#include "text/box_copy_text.h"

#include <algorithm>

#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

BoxPlace box_place(const TensorCall& call, size_t position, const Analyzer& ranges, Names& names,
                   ExprText& exprs, BoxCopies& copies) {
  const TensorOperand& declared = call.intrinsic->operands[position];
  const TensorCall::Operand& operand = call.operands[position];
  const Buffer& buffer = operand.buffer;
  if (copies.arrival.empty())
    throw LowerError("cuda", "a bulk copy stands outside of a pipeline with a producer", buffer->name);
  const std::vector<int64_t>& box = declared.buffer->shape;
  const size_t free = declared.free_dimension();
  if (box.size() != 2 || free != 0 || buffer->dtype.bytes() != 2)
    throw LowerError("cuda", "a bulk copy is not of rows of 16-bit elements", call.intrinsic->name);
  const int64_t length = operand.strides[free];
  const Expr column = ranges.simplify(floormod(operand.offset, length));
  if (buffer->span() % length != 0 || !ranges.can_prove(le(column + box[1], length)))
    throw LowerError("cuda", "what a bulk copy fetches is no box of a tensor", buffer->name);
  const MappedTensor wanted{buffer,
                            "",
                            {static_cast<unsigned>(length), static_cast<unsigned>(buffer->span() / length)},
                            {static_cast<unsigned>(box[1]), static_cast<unsigned>(box[0])}};
  auto map = std::ranges::find_if(copies.maps, [&](const MappedTensor& known) {
    return known.buffer == buffer && known.extents == wanted.extents && known.box == wanted.box;
  });
  if (map == copies.maps.end()) {
    map = copies.maps.insert(map, wanted);
    map->name = names.fresh(buffer->name + "_map");
  }
  return {map->name, exprs.text(column, ranges),
          exprs.text(ranges.simplify(floordiv(operand.offset, length)), ranges)};
}

}  // namespace tunesmith::cuda
