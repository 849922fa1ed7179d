// Finds the consumer that could be inlined into its producer.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The only reader of the intermediate that `block` writes, if it is elementwise in it (the precondition of
/// reverse_compute_inline); else null.
const Block* element_reader_of(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
