#include "pad_columns.h"

#include <vector>

namespace tunesmith {

BlockRV pad_columns(Schedule& schedule, BlockRV block, const TileForm& form, int64_t width) {
  std::vector<int64_t> multiples(schedule.block(block).iters().size(), 1);
  multiples[form.columns] = width;
  schedule.pad_einsum(block, multiples);
  const BlockRV writer = schedule.get_consumers(block).at(0);
  while (const Pointer<Block> next = element_reader(schedule.program(), schedule.block(writer)))
    schedule.reverse_compute_inline(schedule.get_block(next->name));
  return writer;
}

void inline_padded_operand(Schedule& schedule, BlockRV panels) {
  schedule.compute_inline(schedule.get_producers(panels).at(0));
}

}  // namespace tunesmith
