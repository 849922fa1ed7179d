// Who writes and who reads a buffer, and what a block must be for a primitive to move it or to rewrite it as
// a whole.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

/// The blocks of one scope that touch a buffer, in text order. A block inside another one counts as the outer
/// one, which is the block that stands in the scope. The load of a reduction's own accumulator is no reading.
struct BufferUses {
  std::vector<Block*> writers;
  std::vector<Block*> readers;
  bool outside = false;  // something outside the scope touches the buffer
};

/// `scope` is the block whose body is the scope, null for the root.
BufferUses uses_of(const Program& program, const Buffer& buffer, const Block* scope);

/// The buffers of read_accesses() and write_accesses(), each once.
std::vector<Buffer> buffers_read(const Block& block);
std::vector<Buffer> buffers_written(const Block& block);

bool is_intermediate(const Program& program, const Buffer& buffer);
bool is_output(const Program& program, const Buffer& buffer);

/// The loops around the block reach every point of its iterators' domains; those that no binding uses only
/// repeat.
bool every_instance_runs(const Block& block);

/// The block, with the loops around it, writes every element of the buffer. A layout may have elements that
/// nothing writes, and a copy that moved to its reader copies what is read there.
bool writes_everything(const Block& block, const Buffer& buffer);

/// A block that computes its buffer alone, whatever the order of its instances: one buffer, which no other
/// block writes; spatial and reduction iterators; a reduction initialises itself. The papers call it a
/// complete block or a reduction block.
struct Stage {
  Block* block = nullptr;
  Block* scope = nullptr;
  Buffer buffer;
  BufferUses uses;
};

/// Fills in `stage`, or says why the block is none.
std::optional<Refusal> stage_refusal(const Program& program, Block& block, Stage* stage);
/// Nothing when all readers stand outside the loop nest of the block.
std::optional<Refusal> reader_in_nest_refusal(const Stage& stage);
/// Throws ScheduleError when the block is no stage.
Stage require_stage(const Program& program, Block& block, std::string_view primitive);

}  // namespace tunesmith
