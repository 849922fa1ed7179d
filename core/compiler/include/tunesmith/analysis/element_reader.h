// Finds the consumer that could be inlined into its producer.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The only reader of what `block` writes, if that is not an output and the reader reads each
/// element where it writes one (the precondition of reverse_compute_inline). Null if there is none.
const Block* element_reader_of(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
