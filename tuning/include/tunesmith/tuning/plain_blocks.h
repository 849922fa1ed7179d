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
/// A reduction that reuses what it reads (needs_tiling()) is plain where its instances run in the order of
/// whole loops, one inside another: of each of its iterators the loops stand next to one another, none of
/// another iterator between them. Splitting, fusing, parallel, vectorized, unrolled and bound loops change
/// nothing of that; tiles do, also those of a loop under which another block was placed. A place that is
/// sampled is no tile: its own loops, inside the place, are looked at then.
///
/// Any other block gains from tiles only with a neighbour. It is plain where it has one (a block that writes
/// what it reads, or reads what it writes), shares no loop with a block that is not made of it, and neither
/// its place nor that of a block that it reads from is sampled, its instances run in the order of whole
/// loops, and no module has made other blocks of it.
///
/// No block is plain that was inlined, calls a tensor intrinsic or stands inside a block. A part of a block
/// that reuses what it reads (rfactor) is treated as that block, and counts under its name.
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
