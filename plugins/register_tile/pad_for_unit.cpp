#include "pad_for_unit.h"

#include <string>
#include <vector>

namespace tunesmith {
namespace {

/// Of one call.
int64_t terms_of(const Subject& subject) { return subject.unit->steps * subject.unit->depth; }

}  // namespace

bool is_padded(const Block& block, const Subject& subject, int64_t width) {
  return subject.unit && (subject.form.group_columns % width != 0 ||
                          block.iters()[subject.form.reductions.back()].extent % terms_of(subject) != 0);
}

std::optional<BlockRV> pad_for_unit(Schedule& schedule, BlockRV block, const Subject& subject,
                                    int64_t width) {
  const TileForm& form = subject.form;
  const std::vector<IterVar> iters = schedule.block(block).iters();
  std::vector<int64_t> multiples(iters.size(), 1);
  multiples[form.columns] = width;
  multiples[form.reductions.back()] = terms_of(subject);
  schedule.pad_einsum(block, multiples);
  if (iters[form.reductions.back()].extent % terms_of(subject) != 0) {
    for (const BlockRV operand : schedule.get_producers(block))
      for (const std::string& name : padding_of(schedule.program(), schedule.block(operand)))
        schedule.compute_inline(schedule.get_block(name));
  }
  if (form.group_columns % width == 0) return std::nullopt;
  const BlockRV writer = schedule.get_consumers(block).at(0);
  while (const Pointer<Block> next = element_reader(schedule.program(), schedule.block(writer)))
    schedule.reverse_compute_inline(schedule.get_block(next->name));
  return writer;
}

void inline_padded_operand(Schedule& schedule, BlockRV panels) {
  schedule.compute_inline(schedule.get_producers(panels).at(0));
}

}  // namespace tunesmith
