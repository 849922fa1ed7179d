// Finds blocks with much of a program's work that the modules of a space leave plain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A block has much of the work if it has more than this share
/// of the arithmetic (count_flops()) of a sketch's program.
inline constexpr double kMuchOfTheWork = 0.1;

/// A block that sketches leave plain.
///
/// A reduction that reuses its inputs (needs_tiling()) is plain if it is not tiled: the loops of each of its
/// iterators are adjacent, with no loop of another iterator between them. Splitting, fusing, parallel,
/// vectorized, unrolled and bound loops do not change that; tiles do, including those of a loop under which
/// another block was placed. A sampled compute location is not a tile: then only the block's own loops inside
/// the location count.
///
/// Any other block gains from tiles only together with a neighbour. It is plain if it has one (a block that
/// writes what it reads, or reads what it writes), shares no loop with a block that was not derived from it,
/// is not tiled, no module has derived other blocks from it, and neither its compute location nor that of a
/// block that it reads from is sampled.
///
/// A block that was inlined, calls a tensor intrinsic or is inside another block is not plain. A part of a
/// reduction that reuses its inputs (rfactor) is treated as that reduction, and counts under its name.
struct PlainBlock {
  /// Why a module declined at the block, in some of the sketches.
  struct Declined {
    std::string module;
    std::string reason;
  };
  std::string block;               // in the program before any module
  double share = 0.0;              // the largest share of the work among those sketches
  size_t sketches = 0;             // number that leave it plain, for all decisions
  std::vector<Declined> declined;  // in the order of the modules, without duplicates
};

/// The plain blocks of the space's sketches of `program` that have much of
/// the work, the largest first. If the drawn decisions may be the reason why
/// a sketch leaves a block plain, a fixed set of further decisions is drawn.
std::vector<PlainBlock> plain_blocks(const Space& space, const Program& program, const SketchSet& set);

}  // namespace tunesmith
#pragma GCC visibility pop
