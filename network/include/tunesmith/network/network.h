// Networks: tensors, and nodes that compute some of them from others.
//
// An importer reads one (importer.h), passes change it (pass.h), and what they leave is what is tuned and
// built. A network is a value: it is copied, compared by its text, and read from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tunesmith/ir/dtype.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

class Operator;

/// Where a tensor stands in Network::tensors.
using TensorIndex = int32_t;
/// The place of an optional input or output that a node leaves out.
inline constexpr TensorIndex kAbsent = -1;

/// Of one axis: a number, or the name of a number that is chosen before tuning, such as "batch".
using Extent = std::variant<int64_t, std::string>;
using Shape = std::vector<int64_t>;

/// 1 for a single value.
inline int64_t element_count(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

/// Values that are known before the network runs: dense, row-major, in the machine's byte order; a bool is a
/// byte, 0 or 1. Immutable. The bytes may lie in a mapped file, at any address, and `owner` keeps them.
struct Constant {
  DType dtype;
  Shape shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// How numbers lie that no type of kernels has: each in a byte, a signed integer in an i8, all others in a
/// u8. The names of floats say the bits of exponent and fraction; `Fn`: no infinities, `Uz`: no negative
/// zero.
enum class Code : uint8_t { None, I4, U4, I2, U2, F8E4M3Fn, F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0, F4E2M1 };

/// Where a tensor lies that is a part of another.
struct Part {
  TensorIndex whole = 0;         ///< lies by itself
  int64_t begin = 0;             ///< elements of it before the first
  std::vector<int64_t> strides;  ///< in elements, of the axes in the order in which they lie
  /// In trip t of its loop it begins `advance` * (t mod `period`) elements further.
  int64_t advance = 0;
  int64_t period = 1;
};

/// What the importer or fix_shapes could not say of a tensor yet is absent.
struct Tensor {
  std::string name;  ///< unique in its network; never empty
  std::optional<DType> dtype;
  std::optional<std::vector<Extent>> shape;  ///< empty for a single value
  std::shared_ptr<const Constant> constant;  ///< null where a call or a node gives the values
  /// The axes in the order in which they lie in memory, outermost first; empty where that is the shape's. Of
  /// tensors between nodes alone: what a call gives or gets, and constants, lie as their shapes say.
  std::vector<int32_t> order = {};
  /// Absent where it lies by itself. Nodes that only move elements to where they lie already compute nothing.
  std::optional<Part> part = {};
  /// What the integers stand for.
  Code code = Code::None;
  /// Of a sequence, or of an optional value, once fix_shapes knows it: its tensors. Nothing computes it.
  std::optional<std::vector<TensorIndex>> elements = {};
};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, std::shared_ptr<const Constant>>;

struct Network;

/// A network within a node, such as what a loop repeats. fix_shapes puts its nodes in the place of the node.
struct Body {
  std::string name;  ///< the attribute's
  std::shared_ptr<const Network> network;
  /// Where the node has among its inputs what the body's last inputs are: tensors around the node that the
  /// body reads.
  std::vector<size_t> captured;
};

/// One use of an operator.
struct Node {
  std::string name;     ///< the file's, or the operator and a number; unique in its network
  std::string op;       ///< "Conv"; "com.microsoft.Gelu" where it is not ONNX's own
  int64_t version = 0;  ///< of the operator set that the file asks for
  std::map<std::string, Attribute> attributes;
  std::vector<TensorIndex> inputs;
  std::vector<TensorIndex> outputs;
  const Operator* definition = nullptr;  ///< set by resolve; the plugin's that imported the network, which
                                         ///< lives as long as the process
  std::vector<Body> bodies = {};
};

/// A loop of steps: consecutive nodes that run `trips` times. place_loops makes it.
struct Loop {
  /// A loop-carried tensor in two buffers that swap after each trip: a trip reads `before` and writes
  /// `after`. The initial value, `first`, is in the first trip's `before`; `last` is the final value.
  struct Carried {
    TensorIndex first = 0, before = 0, after = 0;
    TensorIndex last = 0;  ///< kAbsent where nothing reads it
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

struct Network {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;           ///< in an order in which each comes after what it reads
  std::vector<TensorIndex> inputs;   ///< what a call gives: no constants
  std::vector<TensorIndex> outputs;  ///< what a call returns; no tensor twice
  std::vector<Loop> loops = {};      ///< in the order of their nodes, which no two share
};

/// The loop that runs the node, or null.
inline const Loop* loop_of(const Network& network, size_t node) {
  for (const Loop& loop : network.loops)
    if (loop.first_node <= node && node < loop.end_node) return &loop;
  return nullptr;
}

/// One line for each tensor that is given, node and result, in their order; equal for equal networks.
/// Constants as their type, shape and the first digits of their SHA-256.
std::string to_text(const Network& network);

/// Throws InternalError when an index is out of range, a tensor is computed twice or read before, a name is
/// there twice, or a constant's bytes, type or shape are not what its tensor says.
void check_invariants(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
