// The writers and readers of buffers, and the conditions under which a primitive may move or rewrite a whole
// block.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

/// The blocks of one scope that access a buffer, in text order. Accesses of an inner block count
/// for the outer block in the scope. The load of a reduction's own accumulator is not a read.
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

/// Do the enclosing loops reach every point of the iterators' domains? Loops that no binding uses only
/// repeat.
bool every_instance_runs(const Block& block);

/// Does the block, with its loops, write every element of the buffer? Some elements of a layout may never be
/// written, and a copy that was moved to its reader copies only the region that is read.
bool writes_everything(const Block& block, const Buffer& buffer);

/// A block whose result does not depend on the order of its instances: it writes
/// one buffer, which no other block writes; has spatial and reduction iterators; a
/// reduction has an init. Called a complete block or reduction block in the papers.
struct Stage {
  Block* block = nullptr;
  Block* scope = nullptr;
  Buffer buffer;
  BufferUses uses;
};

/// Fills in `stage`, or returns why the block is not a stage.
std::optional<Refusal> stage_refusal(const Program& program, Block& block, Stage* stage);
/// Nothing if all readers are outside the block's loop nest.
std::optional<Refusal> reader_in_nest_refusal(const Stage& stage);
/// Throws ScheduleError if the block is not a stage.
Stage require_stage(const Program& program, Block& block, std::string_view primitive);

}  // namespace tunesmith
