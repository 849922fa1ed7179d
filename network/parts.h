// The memory locations of tensors: each alone, or as a part of another.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Permutes axes to memory order; does nothing if `order` is empty or has another number of axes.
template <typename Axis>
void permute(std::vector<Axis>& axes, const std::vector<int32_t>& order) {
  if (axes.size() != order.size()) return;
  std::vector<Axis> permuted;
  for (const int32_t axis : order) permuted.push_back(std::move(axes[static_cast<size_t>(axis)]));
  axes = std::move(permuted);
}

/// The extents of the axes in memory order; all must be numbers.
Shape lying_shape(const Tensor& tensor);

/// The tensor's location; a tensor that is no part is all of itself.
Part place_of(const Network& network, TensorIndex tensor);

/// A box of elements that a node moves, with axes in memory order.
struct Piece {
  TensorIndex from = 0;
  TensorIndex to = 0;
  Shape shape;
  Shape from_begin;
  Shape to_begin;
};

/// The axis along which a node concatenates its inputs; nothing for other nodes.
std::optional<size_t> joined_axis(const Network& network, const Node& node);

/// The pieces that a node moves if it only concatenates tensors or takes a part of one; none for other nodes,
/// or if the tensors have different orders.
std::vector<Piece> pieces_of(const Network& network, size_t node);

/// Are the elements already where the node would move them?
bool is_in_place(const Network& network, size_t node);

/// Copies the piece between dense arrays of `from` and `to`, in their memory orders.
void move_piece(const Network& network, const Piece& piece, std::span<const std::byte> from,
                std::span<std::byte> to);

/// The location of `to` with which the piece coincides with that of `from`.
Part place_behind(const Part& from, const Piece& piece);
/// The location of `from` with which the piece coincides with that of `to`.
Part place_before(const Part& to, const Piece& piece);

}  // namespace tunesmith::network
