// The values that tensors must have in a call: copies of what was computed, kept until the last reader.
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

/// Follows one call step by step. In a loop each trip has values of its own.
class TensorValues {
 public:
  TensorValues(const Network& network, std::span<const NodeWorkload> regions);

  /// `maker`: who has computed it.
  void keep(TensorIndex tensor, const void* data, const std::string& maker);
  bool knows(TensorIndex tensor) const { return values_.contains(tensor); }
  Bytes of(TensorIndex tensor) const;
  /// What is wrong with the tensor where its first element lies there, or nothing.
  std::string change_of(TensorIndex tensor, const void* data) const;

  void begin_step(size_t step);
  /// Once its results are kept. True where the step is not run again.
  bool end_step(size_t step);
  /// How many steps a call runs.
  int64_t runs() const;
  /// Of the loop that runs.
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
  std::map<TensorIndex, int64_t> readers_;  // steps, and the caller, that are still to read it
  std::map<TensorIndex, Value> values_;
  std::map<TensorIndex, Value> partial_;           // what the trips of a loop so far have written
  std::map<size_t, std::vector<Piece>> in_place_;  // of each node in place; empty where that is done
  std::vector<const Loop*> loops_;                 // of each step; null where it runs once
  const Loop* running_ = nullptr;
  int64_t trip_ = 0;
};

}  // namespace tunesmith::network
