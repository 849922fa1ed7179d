// What a node computes, as statements of the workload language (docs/workload-language.md).
//
// An importer brings the operators of its format. An operator sees one node with the shapes of all inputs
// known, and says the types and shapes of its outputs together with how they are computed. Joining the
// statements of several nodes is all that fusing takes.
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

/// An operator refuses a node because the values of an input are not known before the network runs.
class NeedsConstant : public UserError {
 public:
  NeedsConstant(size_t input, const std::string& message) : UserError(message), input_(input) {}
  /// Where it stands in Node::inputs.
  size_t input() const { return input_; }

 private:
  size_t input_;
};

/// The type and the shape of what a node reads or computes.
struct TensorType {
  DType dtype;
  Shape shape;
  Code code = Code::None;
};

struct NodeInput {
  TensorType type;
  const Constant* constant = nullptr;  ///< null where the values are not known before the network runs
  const std::vector<TensorIndex>* elements = nullptr;  ///< of a sequence, which has no type
};

/// What an operator is asked about. Lives during the call.
struct NodeView {
  const Node& node;
  std::vector<std::optional<NodeInput>> inputs;  ///< as node.inputs; nothing for what is left out
};

/// A loop with a known trip count. Inputs of the body and of the loop, in this order: loop-carried tensors;
/// tensors of which each trip reads one row (the loop's have a first axis of trips); loop-invariant tensors.
/// Outputs: loop-carried tensors, then rows, which the loop stacks along a first axis of trips.
struct Repetition {
  std::shared_ptr<const Network> body;
  int64_t trips = 0;
  size_t carried = 0;
  std::vector<int64_t> backwards;  ///< of inputs, then outputs, of rows: 1 where the last row comes first
};

/// Takes what an operator puts in the place of a node. Lives during Operator::expand. Tensors are those of
/// the network, as in NodeView::node.
class Expansion {
 public:
  virtual ~Expansion() = default;
  virtual TensorIndex make_tensor() = 0;
  virtual TensorIndex make_constant(std::shared_ptr<const Constant> constant) = 0;
  virtual TensorIndex make_sequence(std::vector<TensorIndex> elements) = 0;
  /// Its operator is found by name and version. It may have the name of the node that is replaced; one
  /// without a name gets one.
  virtual void add(Node node) = 0;
  /// Adds the nodes of a body, whose inputs, without what it captures, are these; what it gives.
  virtual std::vector<TensorIndex> add_body(const Body& body, const std::vector<TensorIndex>& inputs) = 0;
  /// Adds the loop, unrolled where it has few trips or the body's shapes change. Returns its outputs.
  virtual std::vector<TensorIndex> repeat(const Repetition& repetition, std::vector<TensorIndex> inputs) = 0;
  /// Says what an output of the node that is replaced is.
  virtual void give(size_t output, TensorIndex tensor) = 0;
};

/// How a node's outputs follow from its inputs.
///
/// `compute` holds statements, one a line. They read the arrays in0, in1, ... and compute out0, out1, ..., as
/// many as the node has outputs; intermediate arrays are called t0, t1, ..., and a later statement reads each
/// of them. Every statement gives its axes with their extents. A single value is an array of shape [1]. An
/// output has no statement when the node leaves it out, or when its values follow from shapes and constants
/// alone: then they stand in `constants`.
struct Computation {
  std::vector<TensorType> outputs;
  std::vector<std::shared_ptr<const Constant>>
      constants;  ///< empty, or as long as `outputs` with null for those that are computed
  std::string compute;
  /// Of a single output that is all inputs, one after the other, along an axis.
  std::optional<size_t> joined_axis = {};
};

/// Immutable; called from several threads.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Throws UserError that names the attribute or the input which it does not take, and says what it takes.
  /// The caller adds the node's name.
  virtual Computation define(const NodeView& node) const = 0;

  /// Puts others in the place of the node; false where it has nothing to put there, and `define` is asked.
  /// Inputs may be missing because what computes them is refused. Throws as `define` does.
  virtual bool expand(const NodeView& /*node*/, Expansion& /*to*/) const { return false; }

  /// Are the axes of its first input and of its outputs a batch, channels, and then space?
  virtual bool is_over_images() const { return false; }
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
