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

/// The first buffer under `stmt` whose extents vary, or null.
Buffer varying_buffer(const Stmt& stmt);
/// Does a reduction of the block read elements that may not exist, so that a parameter decides its number of
/// steps? If no reduction of a program does, existing elements depend on existing elements alone.
bool reduces_varying(const Block& block);
bool reduces_varying(const Program& program);

/// Does an extent behind the dimension vary, so that the distance of neighbours along it does where elements
/// lie without gaps?
bool stride_varies(const BufferNode& buffer, size_t dimension);
/// Is it an input or an output whose elements lie without gaps for all values of the parameters, so that
/// their distances vary? Others lie as `shape` and `strides` say.
bool is_packed(const Program& program, const Buffer& buffer);

/// `shape` with the extents that there are for these values of the program's parameters.
std::vector<int64_t> extents_at(const BufferNode& buffer, const Program& program,
                                std::span<const int64_t> values);
/// The highest value of each parameter.
std::vector<int64_t> highest_values(const Program& program);
/// The values at which a program is measured, one for each parameter: first all highest typical values, then
/// all next lower ones, and so on. By default: the highest value, a fourth and a sixteenth of it.
std::vector<std::vector<int64_t>> typical_values(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
