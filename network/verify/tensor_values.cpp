#include "tensor_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "joined.h"
#include "loops/loops_of_tensors.h"
#include "tunesmith/verification/guarded_buffer.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {

size_t bytes_of(const Network& network, TensorIndex tensor) {
  const TensorType type = input_of(network.tensor(tensor)).type;
  return static_cast<size_t>(element_count(type.shape) * type.dtype.bytes());
}

TensorValues::TensorValues(const Network& network, std::span<const NodeWorkload> regions)
    : network_(network), regions_(regions) {
  for (const TensorIndex output : network.outputs) ++readers_[output];
  const std::map<TensorIndex, const Loop*> loops = loops_of_tensors(network);
  for (const NodeWorkload& region : regions) {
    const auto loop = loops.find(region.outputs.front());
    loops_.push_back(loop == loops.end() ? nullptr : loop->second);
    for (const TensorIndex input : region.inputs)
      readers_[input] += loops_.back() == nullptr ? 1 : loops_.back()->trips;
  }
  for (size_t node = 0; node < network.nodes.size(); ++node) {
    if (!is_in_place(network, node)) continue;
    in_place_[node] = pieces_of(network, node);
    const Loop* const loop = loop_of(network, node);
    for (const Piece& piece : in_place_.at(node)) readers_[piece.from] += loop == nullptr ? 1 : loop->trips;
  }
  for (const Loop& loop : network.loops) {
    for (const Loop::Carried& carried : loop.carried) {
      ++readers_[carried.first];
      readers_[carried.after] += loop.trips;
    }
    for (const Loop::Slice& read : loop.read) readers_[read.whole] += loop.trips;
    for (const Loop::Slice& written : loop.written) readers_[written.part] += loop.trips;
  }
}

void TensorValues::keep(TensorIndex tensor, const void* data, const std::string& maker) {
  values_[tensor] = {elements_of(tensor, data), maker};
}

Bytes TensorValues::of(TensorIndex tensor) const {
  if (const Constant* constant = network_.tensor(tensor).constant.get()) return constant->bytes;
  return values_.at(tensor).bytes;
}

std::string TensorValues::change_of(TensorIndex tensor, const void* data) const {
  const Tensor& of_network = network_.tensor(tensor);
  if (of_network.constant == nullptr && !knows(tensor))
    return fmt::format("'{}' before it is computed", of_network.name);
  const Bytes was = of(tensor);
  const std::vector<std::byte> is = elements_of(tensor, data);
  if (std::ranges::equal(is, was)) return {};
  int64_t changed = 0;
  for (size_t i = 0; i < was.size(); ++i) changed += is[i] != was[i] ? 1 : 0;
  return fmt::format("'{}' differs from what {}: {} of {} bytes differ", of_network.name,
                     of_network.constant != nullptr ? "the network has" : values_.at(tensor).maker + " left",
                     changed, was.size());
}

void TensorValues::begin_step(size_t step) {
  if (std::exchange(running_, loops_[step]) != loops_[step]) trip_ = 0;
  if (borders(step, true)) begin_trip(*loops_[step]);
}

bool TensorValues::end_step(size_t step) {
  move_pieces();
  for (const TensorIndex input : regions_[step].inputs) read_once(input);
  const Loop* const loop = loops_[step];
  const bool is_last = loop == nullptr || trip_ + 1 == loop->trips;
  if (borders(step, false)) end_trip(*loop, is_last);
  return is_last;
}

int64_t TensorValues::runs() const {
  int64_t runs = 0;
  for (const Loop* loop : loops_) runs += loop == nullptr ? 1 : loop->trips;
  return runs;
}

/// Is it the first (or last) step of its loop?
bool TensorValues::borders(size_t step, bool first) const {
  if (loops_[step] == nullptr) return false;
  if (first) return step == 0 || loops_[step - 1] != loops_[step];
  return step + 1 == loops_.size() || loops_[step + 1] != loops_[step];
}

void TensorValues::begin_trip(const Loop& loop) {
  for (const Loop::Carried& carried : loop.carried) {
    pass(trip_ == 0 ? carried.first : carried.after, carried.before);
  }
  for (const Loop::Slice& read : loop.read) {
    values_.erase(read.part);
    if (!knows(read.whole) && !network_.tensor(read.whole).constant) continue;
    const size_t bytes = bytes_of(network_, read.part);
    const Bytes row = of(read.whole).subspan(static_cast<size_t>(read.row(trip_, loop.trips)) * bytes, bytes);
    const auto whole = values_.find(read.whole);
    values_[read.part] = {{row.begin(), row.end()},
                          whole == values_.end() ? "the network" : whole->second.maker};
    read_once(read.whole);
  }
  for (size_t node = loop.first_node; trip_ > 0 && node < loop.end_node; ++node)
    if (in_place_.contains(node)) in_place_[node] = pieces_of(network_, node);
  move_pieces();
}

void TensorValues::end_trip(const Loop& loop, bool is_last) {
  for (const Loop::Slice& written : loop.written) {
    if (!knows(written.part)) continue;
    const Value& row = values_.at(written.part);
    Value& whole = partial_[written.whole];
    whole.bytes.resize(bytes_of(network_, written.whole));
    whole.maker = row.maker;
    std::ranges::copy(row.bytes,
                      whole.bytes.begin() + written.row(trip_, loop.trips) * std::ssize(row.bytes));
    read_once(written.part);
    if (is_last) values_[written.whole] = std::exchange(whole, {});
  }
  for (const Loop::Carried& carried : loop.carried) {
    if (is_last) pass(carried.after, carried.last);
  }
  trip_ = is_last ? 0 : trip_ + 1;
  if (is_last) move_pieces();
}

/// A value may be missing because a step was not run; its reader reports that.
void TensorValues::pass(TensorIndex from, TensorIndex to) {
  const auto value = values_.find(from);
  values_.erase(to);
  if (value == values_.end()) return;
  if (to != kAbsent) values_[to] = value->second;
  read_once(from);
}

/// The elements of a tensor whose first element is at `data`, without the gaps between them.
std::vector<std::byte> TensorValues::elements_of(TensorIndex tensor, const void* data) const {
  const auto* const bytes = static_cast<const std::byte*>(data);
  const Tensor& of = network_.tensor(tensor);
  if (!of.part) return {bytes, bytes + bytes_of(network_, tensor)};
  return load_from(*make_buffer(of.name, *of.dtype, lying_shape(of), kScopeGlobal, false, of.part->strides),
                   bytes)
      .bytes;
}

/// Computes the results of in-place nodes from the known tensors, independently of the actual memory.
void TensorValues::move_pieces() {
  for (auto& [node, pieces] : in_place_) {
    const auto is_known = [&](const Piece& piece) { return values_.contains(piece.from); };
    if (pieces.empty() || !std::ranges::all_of(pieces, is_known)) continue;
    const TensorIndex to = pieces.front().to;
    std::vector<std::byte> moved(bytes_of(network_, to));
    for (const Piece& piece : pieces) move_piece(network_, piece, values_.at(piece.from).bytes, moved);
    if (readers_[to] > 0) values_[to] = {std::move(moved), values_.at(pieces.back().from).maker};
    for (const Piece& piece : std::exchange(pieces, {})) read_once(piece.from);
  }
}

void TensorValues::read_once(TensorIndex tensor) {
  const auto value = values_.find(tensor);
  if (--readers_.at(tensor) == 0 && value != values_.end()) values_.erase(value);
}

}  // namespace tunesmith::network
