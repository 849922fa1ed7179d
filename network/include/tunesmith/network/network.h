// Networks: tensors, and nodes that compute some of them from others. An importer reads a network
// (importer.h), passes change it (pass.h), and the result is tuned and built. A network is a value: it is
// copied, compared by its text, and may be read by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/ir/dtype.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

class Operator;

/// The index of a tensor in Network::tensors.
using TensorIndex = int32_t;
/// The index of an optional input or output that a node omits.
inline constexpr TensorIndex kAbsent = -1;

/// The extent of an axis: a number, or the name of a number that is chosen before tuning, such as "batch".
using Extent = std::variant<int64_t, std::string>;
using Shape = std::vector<int64_t>;

/// 1 for a single value.
inline int64_t element_count(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

/// Values known before the network runs: dense, row-major, in the machine's byte order; a bool is a byte, 0
/// or 1. Immutable. The bytes may be in a mapped file, at any address; `owner` keeps them alive.
struct Constant {
  DType dtype;
  Shape shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Encodings of numbers for which kernels have no type. Each number takes a byte: signed integers an i8,
/// others a u8. The names of floats give the bits of exponent and fraction; `Fn`: no infinities, `Uz`: no
/// negative zero.
enum class Code : uint8_t { None, I4, U4, I2, U2, F8E4M3Fn, F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0, F4E2M1 };

/// The location of a tensor that is a part of another.
struct Part {
  TensorIndex whole = 0;         ///< has memory of its own
  int64_t begin = 0;             ///< number of its elements before the first
  std::vector<int64_t> strides;  ///< in elements, by axis in memory order
  /// In trip t of its loop it begins `advance` * (t mod `period`) elements later.
  int64_t advance = 0;
  int64_t period = 1;
};

/// Absent fields are not known yet by the importer or fix_shapes.
struct Tensor {
  std::string name;  ///< unique in its network; never empty
  std::optional<DType> dtype;
  std::optional<std::vector<Extent>> shape;  ///< empty for a single value
  std::shared_ptr<const Constant> constant;  ///< null for inputs and for results of nodes
  /// The axes in memory order, outermost first; empty if that is the order of the shape. Only tensors between
  /// nodes have an order: inputs, results and constants are in the order of their shapes.
  std::vector<int32_t> order = {};
  /// Absent if it has memory of its own. Nodes that would only move elements to where they already are
  /// compute nothing.
  std::optional<Part> part = {};
  /// The encoding of the integers.
  Code code = Code::None;
  /// The tensors of a sequence or optional value, once fix_shapes knows them. No node computes such a value.
  std::optional<std::vector<TensorIndex>> elements = {};
};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, std::shared_ptr<const Constant>>;

struct Network;

/// A network within a node, such as the body of a loop. fix_shapes replaces the node by its nodes.
struct Body {
  std::string name;  ///< the attribute's name
  std::shared_ptr<const Network> network;
  /// For each of the body's last inputs, the node's input that provides it: tensors outside the node that the
  /// body reads.
  std::vector<size_t> captured;
};

/// One use of an operator.
struct Node {
  std::string name;     ///< the file's, or the operator and a number; unique in its network
  std::string op;       ///< "Conv"; "com.microsoft.Gelu" where it is not ONNX's own
  int64_t version = 0;  ///< version of the operator set that the file requires
  std::map<std::string, Attribute> attributes;
  std::vector<TensorIndex> inputs;
  std::vector<TensorIndex> outputs;
  const Operator* definition = nullptr;  ///< set by resolve; belongs to the plugin that imported the network,
                                         ///< and lives as long as the process
  std::vector<Body> bodies = {};
};

/// A loop of steps: consecutive nodes that run `trips` times. place_loops makes it.
struct Loop {
  /// A loop-carried tensor in two buffers that swap after each trip: a trip reads `before` and writes
  /// `after`. The initial value, `first`, is in the first trip's `before`; `last` is the final value.
  struct Carried {
    TensorIndex first = 0, before = 0, after = 0;
    TensorIndex last = 0;  ///< kAbsent if nothing reads it
  };
  /// The row of `whole`, along its first axis, that a trip reads or writes.
  struct Slice {
    TensorIndex whole = 0, part = 0;
    bool backwards = false;  ///< trips go from the last row to the first
    int64_t row(int64_t trip, int64_t of) const { return backwards ? of - 1 - trip : trip; }
  };
  size_t first_node = 0, end_node = 0;
  int64_t trips = 0;
  std::vector<Carried> carried;
  std::vector<Slice> read;
  std::vector<Slice> written;
};

/// The extent of a tensor's axis, where it depends on data: the shape has an upper bound, and of the elements
/// along the axis only the first exist, as many as the value of the i64 tensor `by`. The others have any
/// values.
struct Count {
  size_t axis = 0;
  TensorIndex by = 0;

  bool operator==(const Count& other) const = default;
};

/// A result of a network with such an axis. `output` and `by` are indices in Network::outputs.
struct CountedOutput {
  size_t output = 0;
  size_t axis = 0;
  size_t by = 0;  ///< a result that the network's file does not have

  bool operator==(const CountedOutput& other) const = default;
};

struct Network {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;                  ///< each node comes after the nodes whose results it reads
  std::vector<TensorIndex> inputs;          ///< no constants
  std::vector<TensorIndex> outputs;         ///< no tensor twice
  std::vector<Loop> loops = {};             ///< in the order of their nodes; loops share no nodes
  std::vector<CountedOutput> counted = {};  ///< fix_shapes finds them

  const Tensor& tensor(TensorIndex index) const { return tensors[static_cast<size_t>(index)]; }
  Tensor& tensor(TensorIndex index) { return tensors[static_cast<size_t>(index)]; }
  /// Returns its index. Adding tensors moves the others.
  TensorIndex add(Tensor added) {
    tensors.push_back(std::move(added));
    return static_cast<TensorIndex>(tensors.size() - 1);
  }
};

/// The loop that runs the node, or null.
inline const Loop* loop_of(const Network& network, size_t node) {
  for (const Loop& loop : network.loops)
    if (loop.first_node <= node && node < loop.end_node) return &loop;
  return nullptr;
}

/// One line for each input, node and result, in their order; equal for equal networks. Constants appear as
/// type, shape and the first digits of their SHA-256. `refused`: why nodes are refused, by their
/// places; printed under them.
std::string to_text(const Network& network, const std::map<size_t, std::string>& refused = {});

/// Throws InternalError if an index is out of range, a tensor is computed twice or read too early, a name is
/// not unique, or a constant's bytes, type or shape do not match its tensor.
void check_invariants(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
