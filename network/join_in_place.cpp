#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "copy.h"
#include "joined.h"
#include "loops/repetition.h"
#include "parts.h"
#include "passes.h"
#include "regions/data_flow.h"
#include "regions/node_kinds.h"
#include "tunesmith/network/form_regions.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

/// Locations of tensors with which a concatenation has nothing to move.
struct Placing {
  size_t axis = 0;                // of the concatenation
  int64_t before = 0, after = 0;  // by how much an operand exceeds the joined tensor along the axis
  std::map<TensorIndex, Part> parts;
  std::vector<std::pair<int64_t, int64_t>> taken;    // intervals along the axis
  std::map<std::pair<size_t, size_t>, Part> copies;  // operands to copy, by node and input
  size_t moved = 0;                                  // number of views that a kernel must move there
};

/// Handles concatenations from the last to the first, so that nested ones are placed in the largest.
class InPlace {
 public:
  explicit InPlace(Network& network) : network_(network), facts_(node_facts(network)), flow_(network) {
    for (size_t i = 0; i < network.nodes.size(); ++i) {
      std::vector<Piece> pieces = pieces_of(network, i);
      if (pieces.size() > 1) joins_[i] = std::move(pieces);
    }
    for (const Node& node : network.nodes) {
      if (!is_repetition(node)) continue;
      const auto carried = static_cast<std::ptrdiff_t>(repetition_of(node).carried);
      carried_.insert(node.inputs.begin(), node.inputs.begin() + carried);
      carried_.insert(node.outputs.begin(), node.outputs.begin() + carried);
    }
    regions_ = form_regions(network);
    for (size_t i = 0; i < regions_.size(); ++i) {
      for (const size_t node : regions_[i].nodes) region_of_[node] = i;
      for (const TensorIndex result : regions_[i].results) region_computing_[result] = i;
    }
  }

  /// The number of kernels without placing anything.
  size_t kernels() const { return regions_.size(); }

  void run() {
    for (const auto& [node, pieces] : joins_ | std::views::reverse) {
      const TensorIndex joined = pieces.front().to;
      if (!may_leave_its_region(node) || lies_there_already(pieces)) continue;
      if (std::optional<Placing> placing = placing_for(node, place_of(network_, joined))) {
        if (placing->before + placing->after > 0) {
          if (tensor(joined).part || is_result(joined) || wholes_.contains(joined)) continue;
          lay_in_larger(joined, *placing);
          placing = placing_for(node, place_of(network_, joined));
        }
        commit(placing.value());
      }
    }
    add_copies();
  }

 private:
  Tensor& tensor(TensorIndex index) { return network_.tensor(index); }
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }
  bool is_result(TensorIndex index) const {
    return std::ranges::find(network_.outputs, index) != network_.outputs.end();
  }
  bool is_view(size_t node) const { return facts_[node].kind == NodeKind::View; }

  /// Does the node's region contain nodes that compute something?
  bool has_company(size_t node) const {
    return std::ranges::any_of(regions_[region_of_.at(node)].nodes,
                               [&](size_t other) { return !is_view(other) && !joins_.contains(other); });
  }

  /// The nodes after it must still be one region without it.
  bool may_leave_its_region(size_t node) const {
    return !has_company(node) || flow_.readers(node).size() == 1;
  }

  /// May it become a part of another tensor?
  bool is_free(TensorIndex index) const {
    return flow_.maker(index) != flow_.end() && !tensor(index).part && !wholes_.contains(index) &&
           !is_result(index) && !carried_.contains(index);
  }

  /// Is it a result of a region other than the node's?
  bool is_computed_beside(TensorIndex index, size_t node) const {
    const auto region = region_computing_.find(index);
    return region != region_computing_.end() && region->second != region_of_.at(node);
  }

  /// Are the operands already adjacent parts of a larger tensor? Then the joined tensor becomes a part of it,
  /// too.
  bool lies_there_already(const std::vector<Piece>& pieces) {
    const TensorIndex joined = pieces.front().to;
    if (!is_free(joined) || !tensor(pieces.front().from).part) return false;
    tensor(joined).part = place_behind(*tensor(pieces.front().from).part, pieces.front());
    const bool lies = is_in_place(network_, flow_.maker(joined));
    if (!lies) tensor(joined).part.reset();
    return lies;
  }

  /// Nothing if it would increase the number of kernels.
  std::optional<Placing> placing_for(size_t node, const Part& joined) const {
    Placing placing;
    const Shape& last = joins_.at(node).back().to_begin;
    while (last[placing.axis] == 0) ++placing.axis;
    if (!place(node, joined, 0, placing)) return std::nullopt;
    const size_t more = placing.copies.size() + placing.moved;
    return more > (has_company(node) ? 0 : 1) ? std::nullopt : std::optional(placing);
  }

  /// Places the node's operands. `begin`: where the node's result begins along the axis.
  bool place(size_t node, const Part& joined, int64_t begin, Placing& placing) const {
    const std::vector<Piece>& pieces = joins_.at(node);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const int64_t at = begin + pieces[i].to_begin[placing.axis];
      const Part wanted = place_before(joined, pieces[i]);
      if (place_operand(node, pieces[i], wanted, at, placing)) continue;
      const size_t maker = flow_.maker(pieces[i].from);
      if (maker != flow_.end() && !is_view(maker) && !is_computed_beside(pieces[i].from, node)) return false;
      if (!take(at, at + pieces[i].shape[placing.axis], placing)) return false;
      if (maker != flow_.end() && is_view(maker) && is_free(pieces[i].from) &&
          placing.parts.emplace(pieces[i].from, wanted).second)
        ++placing.moved;
      else
        placing.copies.emplace(std::pair(node, i), wanted);
    }
    return true;
  }

  /// Returns false, without placing anything, if no kernel can compute the operand there.
  bool place_operand(size_t node, const Piece& piece, const Part& wanted, int64_t begin,
                     Placing& placing) const {
    const TensorIndex operand = piece.from;
    if (!is_free(operand) || placing.parts.contains(operand)) return false;
    const size_t maker = flow_.maker(operand);
    if (is_view(maker)) return place_view(node, operand, wanted, begin, placing);
    const auto inner = joins_.find(maker);
    if (!is_computed_beside(operand, node) && (inner == joins_.end() || flow_.readers(maker).size() > 1))
      return false;
    if (is_computed_beside(operand, node) && !take(begin, begin + piece.shape[placing.axis], placing))
      return false;
    placing.parts[operand] = wanted;
    return is_computed_beside(operand, node) || place(maker, wanted, begin, placing);
  }

  static bool take(int64_t begin, int64_t end, Placing& placing) {
    if (std::ranges::any_of(placing.taken,
                            [&](const auto& other) { return begin < other.second && other.first < end; }))
      return false;
    placing.taken.emplace_back(begin, end);
    return true;
  }

  /// Places a view: a part of a tensor that can be placed so that the part is at the wanted location, or a
  /// reordered tensor, which its kernel then writes in that order.
  bool place_view(size_t node, TensorIndex view, const Part& wanted, int64_t begin, Placing& placing) const {
    const std::vector<Piece> pieces = pieces_of(network_, flow_.maker(view));
    if (pieces.size() == 1) return place_whole(node, pieces.front(), wanted, begin, placing);
    TensorIndex of = view;
    for (size_t maker = flow_.maker(of); maker != flow_.end() && is_view(maker); maker = flow_.maker(of)) {
      const Node& moving = network_.nodes[maker];
      if (facts_[maker].elements != facts_[maker].input_elements || flow_.readers(maker).size() != 1)
        return false;
      of = *std::ranges::find_if(moving.inputs, [&](TensorIndex input) {
        return input != kAbsent && tensor(input).constant == nullptr;
      });
    }
    if (!is_free(of) || flow_.readers(flow_.maker(of)).size() != 1 || !is_computed_beside(of, node) ||
        !take(begin, begin + lying_shape(tensor(view))[placing.axis], placing))
      return false;
    placing.parts[view] = wanted;
    return true;
  }

  bool place_whole(size_t node, const Piece& piece, const Part& wanted, int64_t begin,
                   Placing& placing) const {
    const Shape shape = lying_shape(tensor(piece.from));
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != placing.axis && shape[d] != piece.shape[d]) return false;
    const Part place = place_before(wanted, piece);
    const int64_t first = begin - piece.from_begin[placing.axis], last = first + shape[placing.axis];
    if (const auto known = placing.parts.find(piece.from); known != placing.parts.end()) {
      if (known->second.begin != place.begin) return false;
    } else {
      if (!is_free(piece.from) || is_view(flow_.maker(piece.from)) ||
          joins_.contains(flow_.maker(piece.from)) || !is_computed_beside(piece.from, node) ||
          !take(first, last, placing))
        return false;
      placing.parts[piece.from] = place;
      placing.before = std::max(placing.before, -first);
      placing.after =
          std::max(placing.after, last - lying_shape(tensor(joins_.at(node).front().to))[placing.axis]);
    }
    placing.parts[piece.to] = wanted;
    return true;
  }

  /// Makes the joined tensor a part of a larger tensor, which no node computes as a whole.
  void lay_in_larger(TensorIndex joined, const Placing& placing) {
    Tensor whole = tensor(joined);
    whole.name = unique_name(network_, whole.name + "/whole");
    const size_t axis = whole.order.empty() ? placing.axis : static_cast<size_t>(whole.order[placing.axis]);
    Extent& extent = (*whole.shape)[axis];
    extent = std::get<int64_t>(extent) + placing.before + placing.after;
    Part place = place_of(network_, network_.add(std::move(whole)));
    place.begin = placing.before * place.strides[placing.axis];
    tensor(joined).part = std::move(place);
  }

  void commit(const Placing& placing) {
    for (const auto& [index, part] : placing.parts) {
      tensor(index).part = part;
      wholes_.insert(part.whole);
    }
    for (const auto& [index, part] : placing.parts) place_other_views(index);
    copies_.insert(placing.copies.begin(), placing.copies.end());
  }

  /// Other views of a tensor that has become a part are now located within it.
  void place_other_views(TensorIndex of) {
    for (const size_t reader : flow_.readers(flow_.maker(of))) {
      const std::vector<Piece> pieces = is_view(reader) ? pieces_of(network_, reader) : std::vector<Piece>();
      if (pieces.size() == 1 && pieces.front().from == of && is_free(pieces.front().to))
        tensor(pieces.front().to).part = place_behind(*tensor(of).part, pieces.front());
    }
  }

  void add_copies() {
    for (const auto& [place, part] : copies_ | std::views::reverse) {
      const auto [node, position] = place;
      const TensorIndex from = network_.nodes[node].inputs[position];
      Tensor copy = tensor(from);
      copy.name = unique_name(network_, copy.name);
      copy.constant = nullptr;
      copy.part = part;
      const TensorIndex to = network_.add(std::move(copy));
      network_.nodes[node].inputs[position] = to;
      const std::string name = unique_name(network_, "copy of " + tensor(from).name);
      network_.nodes.insert(network_.nodes.begin() + static_cast<std::ptrdiff_t>(node),
                            copy_node(name, from, to));
    }
  }

  Network& network_;
  const std::vector<NodeFacts> facts_;
  const DataFlow flow_;
  std::map<size_t, std::vector<Piece>> joins_;      // concatenations
  std::vector<Region> regions_;                     // including all nodes that move elements
  std::map<size_t, size_t> region_of_;              // of nodes
  std::map<TensorIndex, size_t> region_computing_;  // by result
  std::set<TensorIndex> wholes_;                    // tensors that have parts
  std::set<TensorIndex> carried_;                   // loop-carried tensors, which the loop places
  std::map<std::pair<size_t, size_t>, Part> copies_;
};

}  // namespace

void join_in_place(Network& network, const PassOptions& /*options*/) {
  Network joined = network;
  InPlace in_place(joined);
  const size_t before = in_place.kernels();
  in_place.run();
  if (form_regions(joined).size() <= before) network = std::move(joined);
}

}  // namespace tunesmith::network
