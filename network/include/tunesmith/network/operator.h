// The computation of a node, as statements of the workload language (docs/workload-language.md).
//
// An importer has the operators of its format. An operator sees one node whose input shapes are known, and
// gives the types and shapes of its outputs together with their computation. Fusing nodes just joins their
// statements.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// An operator refuses a node because it needs the values of an input before the network runs.
class NeedsConstant : public UserError {
 public:
  NeedsConstant(size_t input, const std::string& message) : UserError(message), input_(input) {}
  /// The index of the input in Node::inputs.
  size_t input() const { return input_; }

 private:
  size_t input_;
};

/// The type and the shape of a tensor that a node reads or computes.
struct TensorType {
  DType dtype;
  Shape shape;
  Code code = Code::None;
};

struct NodeInput {
  TensorType type;
  const Constant* constant = nullptr;  ///< null if the values are not known before the network runs
  const std::vector<TensorIndex>* elements = nullptr;  ///< for a sequence, which has no type
  std::optional<Count> count = {};  ///< known to Operator::expand alone; then the shape has the upper bound
  const Constant* highest =
      nullptr;  ///< of values computed of counts, upper bounds; to Operator::expand alone
};

/// A node, as its operator sees it. Lives during the call.
struct NodeView {
  const Node& node;
  std::vector<std::optional<NodeInput>> inputs;  ///< like node.inputs; nothing for an omitted input
};

/// A loop with a known trip count. Inputs of the body and of the loop, in this order: loop-carried tensors;
/// tensors of which each trip reads one row (the loop's have a first axis of trips); loop-invariant tensors.
/// Outputs: loop-carried tensors, then rows, which the loop stacks along a first axis of trips.
struct Repetition {
  std::shared_ptr<const Network> body;
  int64_t trips = 0;
  size_t carried = 0;
  std::vector<int64_t> backwards;  ///< for the rows of inputs, then of outputs; 1: the last row comes first
};

/// Collects the nodes that replace a node. Lives during Operator::expand. Tensors are those of the network,
/// as in NodeView::node.
class Expansion {
 public:
  virtual ~Expansion() = default;
  virtual TensorIndex make_tensor() = 0;
  virtual TensorIndex make_constant(std::shared_ptr<const Constant> constant) = 0;
  virtual TensorIndex make_sequence(std::vector<TensorIndex> elements) = 0;
  /// Adds a node; its operator is found by name and version. It may have the name of the replaced node; a
  /// node without a name gets one.
  virtual void add(Node node) = 0;
  /// Adds the nodes of a body with these inputs, apart from the captured ones; returns its outputs.
  virtual std::vector<TensorIndex> add_body(const Body& body, const std::vector<TensorIndex>& inputs) = 0;
  /// Adds the loop, unrolled where it has few trips or the body's shapes change. Returns its outputs.
  virtual std::vector<TensorIndex> repeat(const Repetition& repetition, std::vector<TensorIndex> inputs) = 0;
  /// The tensor, of whose elements along `axis` only the first exist, as many as the value of `by` says.
  virtual TensorIndex counted(TensorIndex tensor, size_t axis, TensorIndex by) = 0;
  /// All elements of a tensor, also those that its count excludes.
  virtual TensorIndex whole(TensorIndex tensor) = 0;
  /// The nodes behind the replaced one that read the tensor; nothing if the network has it as a result.
  virtual std::optional<std::vector<const Node*>> readers(TensorIndex tensor) const = 0;
  /// The values of a tensor; null if they are not known.
  virtual const Constant* values(TensorIndex tensor) const = 0;
  /// Sets the tensor for an output of the replaced node.
  virtual void give(size_t output, TensorIndex tensor) = 0;
};

/// The computation of a node's outputs.
///
/// `compute` has one statement per line. Statements read the arrays in0, in1, ... and compute out0, out1,
/// ..., one for each output; intermediate arrays are t0, t1, ..., and a later statement must read each.
/// Every statement gives its axes with their extents. A scalar is an array of shape [1]. An output has no
/// statement if the node omits it, or if its values follow from shapes and constants: then they are in
/// `constants`.
struct Computation {
  std::vector<TensorType> outputs;
  std::vector<std::shared_ptr<const Constant>>
      constants;  ///< empty, or one per output, with null for computed outputs
  std::string compute;
  /// Set if the single output is the concatenation of all inputs along this axis.
  std::optional<size_t> joined_axis = {};
};

/// Immutable and thread-safe.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Throws UserError, naming the attribute or input that it refuses, and what it accepts. The caller adds
  /// the node's name.
  virtual Computation define(const NodeView& node) const = 0;

  /// Replaces the node by others; returns false if it does not, and then `define` is called. Inputs may be
  /// missing because the nodes that compute them are refused. Throws as `define`.
  virtual bool expand(const NodeView& /*node*/, Expansion& /*to*/) const { return false; }

  /// Are the axes of its first input and of its outputs batch, channels, and then space?
  virtual bool is_over_images() const { return false; }
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
