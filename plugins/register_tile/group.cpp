#include "group.h"

#include <algorithm>

namespace tunesmith {
namespace {

/// Does the reader read each element once, where it writes its own?
bool reads_element_by_element(const Block& reader, const Block& producer) {
  const std::vector<Access> written = write_accesses(reader);
  const Buffer buffer = writes_of(producer).front().buffer;
  for (const Access& read : read_accesses(reader)) {
    if (read.buffer->name != buffer->name) continue;
    const bool same = std::ranges::equal(
        read.indices, written.front().indices, [](const AccessIndex& one, const AccessIndex& other) {
          return one.iterator == other.iterator && one.constant == other.constant &&
                 (one.iterator || one.constant);
        });
    if (!same || read.buffer->shape != written.front().buffer->shape) return false;
  }
  return true;
}

bool have_the_same_iterators(const Block& one, const Block& other) {
  return std::ranges::equal(one.iters(), other.iters(), [](const IterVar& a, const IterVar& b) {
    return a.extent == b.extent && a.kind == b.kind;
  });
}

/// The only reader, if it reads element by element; else null.
Pointer<Block> only_reader(const Program& program, const Block& block) {
  const std::vector<Pointer<Block>> consumers = consumers_of(program, block);
  if (consumers.size() != 1 || writes_output(program, block) || !is_elementwise(*consumers.front()) ||
      !reads_element_by_element(*consumers.front(), block))
    return nullptr;
  return consumers.front();
}

}  // namespace

Group group_of(const Program& program, const Block& block) {
  Group group{{block.name}, {}};
  if (const Pointer<Block> reader = element_reader(program, block); reader && !writes_output(program, block))
    group.reader = reader->name;
  return group;
}

std::optional<Group> siblings_of(const Program& program, const Block& block) {
  const Pointer<Block> reader = only_reader(program, block);
  if (!reader) return std::nullopt;
  Group group{{}, reader->name};
  for (const Pointer<Block>& producer : producers_of(program, *reader)) {
    if (needs_tiling(*producer) && have_the_same_iterators(block, *producer) &&
        only_reader(program, *producer) == reader)
      group.blocks.push_back(producer->name);
  }
  if (group.blocks.size() < 2) return std::nullopt;
  return group;
}

}  // namespace tunesmith
