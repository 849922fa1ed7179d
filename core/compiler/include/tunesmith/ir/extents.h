// Extents that vary: which elements of a buffer exist (BufferNode::extents).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

bool uses_parameter(const Expr& expr);

/// The condition for all to exist that a store of a block touches, other than under a Select's condition or a
/// mask, which speak for themselves: a conjunction of "index < extent". Constant true where nothing varies.
Expr existence(const Store& store);

/// A buffer under `stmt` of which elements may not exist, or null.
Buffer varying_buffer(const Stmt& stmt);
/// Does a reduction of the block run over elements that may not exist, so that it depends on what it touches
/// how many steps it has? Where none of a program's does, elements that exist are made of such alone, and a
/// buffer may as well have all.
bool reduces_varying(const Block& block);
bool reduces_varying(const Program& program);

/// `shape` with the extents that there are for these values of the program's parameters.
std::vector<int64_t> extents_at(const BufferNode& buffer, const Program& program,
                                std::span<const int64_t> values);
/// The highest value of each parameter.
std::vector<int64_t> highest_values(const Program& program);
/// What a program is measured at: the typical values of its parameters, the first of each together and so on,
/// from the highest; where nobody said which, the highest, a fourth and a sixteenth of it.
std::vector<std::vector<int64_t>> typical_values(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
