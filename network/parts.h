// Where tensors lie: each by itself, or as a part of another.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Each axis lies where the order has it; they stay where that is empty, or an order of other axes.
template <typename Axis>
void permute(std::vector<Axis>& axes, const std::vector<int32_t>& order) {
  if (axes.size() != order.size()) return;
  std::vector<Axis> permuted;
  for (const int32_t axis : order) permuted.push_back(std::move(axes[static_cast<size_t>(axis)]));
  axes = std::move(permuted);
}

/// The extents of the axes in the order in which they lie; all are numbers.
Shape lying_shape(const Tensor& tensor);

/// Of a tensor that lies by itself: all of it.
Part place_of(const Network& network, TensorIndex tensor);

/// A box of elements that a node moves. Axes are in the order in which they lie.
struct Piece {
  TensorIndex from = 0;
  TensorIndex to = 0;
  Shape shape;
  Shape from_begin;
  Shape to_begin;
};

/// The axis along which a node puts its inputs side by side; nothing of any other node.
std::optional<size_t> joined_axis(const Network& network, const Node& node);

/// What a node moves that only puts tensors side by side, or takes a part of one; nothing of any other node,
/// and of one whose tensors lie in different orders.
std::vector<Piece> pieces_of(const Network& network, size_t node);

/// Do the elements lie already where the node would move them?
bool is_in_place(const Network& network, size_t node);

/// Copies the piece between dense arrays, of `from` and of `to` as they lie.
void move_piece(const Network& network, const Piece& piece, std::span<const std::byte> from,
                std::span<std::byte> to);

/// The place of `to` at which the piece of it lies where `from` has it.
Part place_behind(const Part& from, const Piece& piece);
/// The place of `from` at which it lies where the piece of `to` is.
Part place_before(const Part& to, const Piece& piece);

}  // namespace tunesmith::network
