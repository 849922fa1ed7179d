// Which blocks with much of a program's work the modules of a space leave plain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A block has much of the work when it has more than this share of the arithmetic that a sketch's program
/// does (count_flops()).
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
  /// Why a module did nothing at the block, in some of the sketches.
  struct Declined {
    std::string module;
    std::string reason;
  };
  std::string block;               // of the program before any module
  double share = 0.0;              // of the work: the largest of those sketches
  size_t sketches = 0;             // that leave it plain, whatever is decided in them
  std::vector<Declined> declined;  // in the order in which the modules met it, each once
};

/// Those of the space's sketches of `program` that have much of the work, most of it first. Where the
/// decisions with which a sketch was drawn might be what leaves a block plain, some more are drawn, always
/// the same ones.
std::vector<PlainBlock> plain_blocks(const Space& space, const Program& program, const SketchSet& set);

}  // namespace tunesmith
#pragma GCC visibility pop
