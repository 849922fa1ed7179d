// Dynamic extents: which elements of a buffer exist (BufferNode::extents).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

bool uses_parameter(const Expr& expr);

/// The condition that every element exists that the store writes or reads: a conjunction of "index < extent",
/// constant true if all extents are static. Masked loads and the branches of Selects are excluded: their
/// conditions guard them.
Expr existence(const Store& store);

/// The first buffer with dynamic extents that `stmt` accesses, or null.
Buffer varying_buffer(const Stmt& stmt);
/// Does a reduction of the block read elements that may not exist, so that its number of steps depends on a
/// parameter? If no reduction of a program does, existing elements depend only on existing elements.
bool reduces_varying(const Block& block);
bool reduces_varying(const Program& program);

/// Would the stride of the dimension be dynamic in a packed layout, because an inner dimension has a dynamic
/// extent?
bool stride_varies(const BufferNode& buffer, size_t dimension);
/// Is it an input or output that is packed to its actual extents, so that its strides are dynamic? The layout
/// of other buffers follows `shape` and `strides`.
bool is_packed(const Program& program, const Buffer& buffer);

/// The actual extents for these values of the program's parameters.
std::vector<int64_t> extents_at(const BufferNode& buffer, const Program& program,
                                std::span<const int64_t> values);
/// The highest value of each parameter.
std::vector<int64_t> highest_values(const Program& program);
/// The tuples of parameter values at which a program is measured: the highest typical value of each
/// parameter, then the next lower of each, and so on. By default the highest value, a fourth and a sixteenth
/// of it.
std::vector<std::vector<int64_t>> typical_values(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
