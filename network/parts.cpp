#include "parts.h"

#include <algorithm>
#include <optional>

#include "joined.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {
namespace {

std::vector<int64_t> dense_strides(const Shape& shape) {
  return make_buffer("dense", kF32, shape)->effective_strides();
}

int64_t offset_of(const Shape& begin, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < begin.size(); ++d) offset += begin[d] * strides[d];
  return offset;
}

std::vector<Piece> joined_pieces(const Network& network, const Node& node, size_t axis) {
  const Tensor& to = network.tensor(node.outputs.front());
  const size_t rank = to.shape->size();
  const size_t lying =
      to.order.empty()
          ? axis
          : static_cast<size_t>(std::ranges::find(to.order, static_cast<int32_t>(axis)) - to.order.begin());
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (const TensorIndex input : node.inputs) {
    const Tensor& from = network.tensor(input);
    if (from.order != to.order) return {};
    Piece piece{input, node.outputs.front(), lying_shape(from), Shape(rank, 0), Shape(rank, 0)};
    piece.to_begin[lying] = begin;
    begin += piece.shape[lying];
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// The offset of the index from the iterator, if it is just that.
std::optional<int64_t> shift(const Expr& index, const Var& iterator) {
  int64_t number = 0;
  const Expr difference = Analyzer().simplify(index - iterator);
  return as_const_int(difference, &number) ? std::optional(number) : std::nullopt;
}

/// The pieces of a node with one statement that copies a box.
std::vector<Piece> sliced_pieces(const Network& network, size_t position) {
  const NodeWorkload made = workload_of(network, {&position, 1});
  const std::vector<Block*> blocks = made.workload.program.blocks();
  if (blocks.size() != 1 || made.inputs.size() != 1) return {};
  const Store* store = body_store(*blocks.front());
  const LoadNode* load =
      store == nullptr || blocks.front()->has_reduction() ? nullptr : store->value.as<LoadNode>();
  if (load == nullptr || load->mask() || load->indices().size() != store->indices.size()) return {};
  const Tensor &from = network.tensor(made.inputs.front()), &to = network.tensor(made.outputs.front());
  if (from.order != to.order || from.shape->size() != to.shape->size() || to.shape->empty()) return {};
  Piece piece{made.inputs.front(), made.outputs.front(), lying_shape(to), {}, Shape(to.shape->size(), 0)};
  for (size_t d = 0; d < store->indices.size(); ++d) {
    if (!store->indices[d].is(ExprKind::Var)) return {};
    const std::optional<int64_t> begin = shift(load->indices()[d], Var::from(store->indices[d]));
    if (!begin || *begin < 0) return {};
    piece.from_begin.push_back(*begin);
  }
  return {piece};
}

}  // namespace

Shape lying_shape(const Tensor& tensor) {
  Shape shape = input_of(tensor).type.shape;
  permute(shape, tensor.order);
  return shape;
}

Part place_of(const Network& network, TensorIndex tensor) {
  const Tensor& of = network.tensor(tensor);
  return of.part ? *of.part : Part{tensor, 0, dense_strides(lying_shape(of))};
}

std::optional<size_t> joined_axis(const Network& network, const Node& node) {
  return define(node, inputs_of(network, node)).computation.joined_axis;
}

std::vector<Piece> pieces_of(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  if (of.outputs.size() != 1 || !of.bodies.empty()) return {};
  if (const std::optional<size_t> axis = joined_axis(network, of)) return joined_pieces(network, of, *axis);
  return sliced_pieces(network, node);
}

bool is_in_place(const Network& network, size_t node) {
  const auto is_part = [&](TensorIndex tensor) {
    return tensor != kAbsent && network.tensor(tensor).part.has_value();
  };
  const Node& of = network.nodes[node];
  if (std::ranges::none_of(of.inputs, is_part) && std::ranges::none_of(of.outputs, is_part)) return false;
  const std::vector<Piece> pieces = pieces_of(network, node);
  return !pieces.empty() && std::ranges::all_of(pieces, [&](const Piece& piece) {
    const Part from = place_of(network, piece.from), to = place_of(network, piece.to);
    return from.whole == to.whole && from.strides == to.strides &&
           from.begin + offset_of(piece.from_begin, from.strides) ==
               to.begin + offset_of(piece.to_begin, to.strides);
  });
}

void move_piece(const Network& network, const Piece& piece, std::span<const std::byte> from,
                std::span<std::byte> to) {
  const DType type = *network.tensor(piece.from).dtype;
  const auto box_in = [&](TensorIndex tensor) {
    return make_buffer("box", type, piece.shape, kScopeGlobal, false,
                       dense_strides(lying_shape(network.tensor(tensor))));
  };
  const auto begin_in = [&](TensorIndex tensor, const Shape& begin) {
    return static_cast<size_t>(offset_of(begin, dense_strides(lying_shape(network.tensor(tensor)))) *
                               type.bytes());
  };
  const tunesmith::Tensor moved =
      load_from(*box_in(piece.from), from.subspan(begin_in(piece.from, piece.from_begin)).data());
  store_in(*box_in(piece.to), moved, to.subspan(begin_in(piece.to, piece.to_begin)).data());
}

Part place_behind(const Part& from, const Piece& piece) {
  Part to = from;
  to.begin += offset_of(piece.from_begin, from.strides) - offset_of(piece.to_begin, from.strides);
  return to;
}

Part place_before(const Part& to, const Piece& piece) {
  Part from = to;
  from.begin += offset_of(piece.to_begin, to.strides) - offset_of(piece.from_begin, to.strides);
  return from;
}

}  // namespace tunesmith::network
