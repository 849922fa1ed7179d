// The block that could be computed where its producer is.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The only reader of what `block` writes, where that is no output and each element is read where the reader
/// writes one: what reverse_compute_inline takes. Null where there is none.
const Block* element_reader_of(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
