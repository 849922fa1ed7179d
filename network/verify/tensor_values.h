// The expected values of tensors in a call: copies of computed values, kept until their last reader.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "parts.h"
#include "tunesmith/network/network.h"
#include "tunesmith/network/node_workload.h"

namespace tunesmith::network {

using Bytes = std::span<const std::byte>;

size_t bytes_of(const Network& network, TensorIndex tensor);

/// Follows one call step by step. In a loop each trip has its own values.
class TensorValues {
 public:
  TensorValues(const Network& network, std::span<const NodeWorkload> regions);

  /// `maker`: a description of the step that computed it.
  void keep(TensorIndex tensor, const void* data, const std::string& maker);
  bool knows(TensorIndex tensor) const { return values_.contains(tensor); }
  Bytes of(TensorIndex tensor) const;
  /// Describes a change of the tensor at `data`; empty if it is unchanged.
  std::string change_of(TensorIndex tensor, const void* data) const;

  void begin_step(size_t step);
  /// Call it after the step's results are kept. True if the step does not run again.
  bool end_step(size_t step);
  /// The number of steps that a call runs.
  int64_t runs() const;
  /// The current trip of the running loop.
  int64_t trip() const { return trip_; }

 private:
  struct Value {
    std::vector<std::byte> bytes;
    std::string maker;
  };

  bool borders(size_t step, bool first) const;
  void begin_trip(const Loop& loop);
  void end_trip(const Loop& loop, bool is_last);
  std::vector<std::byte> elements_of(TensorIndex tensor, const void* data) const;
  void pass(TensorIndex from, TensorIndex to);
  void move_pieces();
  void read_once(TensorIndex tensor);

  const Network& network_;
  const std::span<const NodeWorkload> regions_;
  std::map<TensorIndex, int64_t> readers_;  // number of steps, and the caller, that will still read it
  std::map<TensorIndex, Value> values_;
  std::map<TensorIndex, Value> partial_;           // rows that the trips of a loop have written so far
  std::map<size_t, std::vector<Piece>> in_place_;  // by in-place node; empty once its result is computed
  std::vector<const Loop*> loops_;                 // by step; null if it runs once
  const Loop* running_ = nullptr;
  int64_t trip_ = 0;
};

}  // namespace tunesmith::network
