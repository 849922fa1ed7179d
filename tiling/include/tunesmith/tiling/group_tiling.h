// Products of matrices by tensor intrinsics that a level's groups execute together (TensorIntrinsic::level):
// tiles of a launch, of a group and of the intrinsic; both factors fetched to memory that the groups share,
// and all that the intrinsic takes and leaves held by the groups. Batches of products are such, sums over
// several axes, and convolutions, whose windows are put into rows as they are fetched.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// Intrinsics, and names of axes and scopes.
struct GroupTiling {
  /// Those of which the next four are chosen: by the block's types, and so that factors are loaded in the
  /// order in which they lie, if some load can do that. With none, they are named.
  std::vector<TensorIntrinsicPtr> unit = {};
  std::string product = {};  // intrinsics: of what a group holds, sums += first factor * second factor
  /// Of the factors, from shared memory; "": the product reads both where they are shared.
  std::array<std::string, 2> loads = {};
  std::string zero = {};    // what sums begin with
  std::string store = {};   // of sums, to shared memory
  std::string launch_axis;  // tiles of a launch are bound to it
  std::string group_axis;   // and tiles of a group to it
  std::string shared_scope;
  std::string held_scope;
  int max_tiles = 4;                           // of the intrinsic that a group computes along one dimension
  std::vector<int64_t> widths = {1, 2, 4, 8};  // choices for the elements that a thread copies at once
  /// The intrinsics load rows of shared memory in pieces of so many bytes. A row begins at an odd multiple of
  /// it after the one before, so that pieces of neighbouring rows lie in different banks.
  /// 0: rows stay as they are.
  int64_t piece_bytes = 16;
  /// Elements of a row of what is shared of a factor, whose other columns follow in panels of such rows. Rows
  /// are then swizzled (storage_swizzle). 0: a row is as long as the tile is wide.
  int64_t panel = 0;
  /// Those of which bulk copies fetch the factors, by a producer of its own. The loop over steps is then
  /// pipelined, and what is fetched is annotated `bulk_fetch`, of which the module bulk_fetch makes calls.
  /// None: all threads fetch.
  std::vector<TensorIntrinsicPtr> bulk = {};
  std::vector<int64_t> stages = {2, 3, 4};  // choices for the steps that are under way at once then
};

/// Cuts the loops of the block, padded where the intrinsic's tiles do not divide them, and makes all calls.
/// The product's intrinsic may have its columns as two iterators, panels and those of one.
/// Answers the block that calls the product. What all threads copy is annotated `cooperative_fetch`. A
/// consumer that reads the result element by element becomes what writes it, and what pads a factor becomes
/// part of the copy that fetches it. Throws ScheduleError, with the schedule half way, where the block is no
/// sum of products of two factors, each with an axis of its own, the unit has no such product, or bulk copies
/// are wanted and cannot fetch a factor as it lies.
BlockRV tile_for_groups(Schedule& schedule, const std::string& block, const GroupTiling& tiling);

}  // namespace tunesmith
