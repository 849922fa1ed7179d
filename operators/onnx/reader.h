// Reads and checks a node's inputs and attributes for the definition of its operator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/network/operator.h"

namespace tunesmith::operators_onnx {

using network::Code;
using network::Computation;
using network::Constant;
using network::element_count;
using network::NodeView;
using network::Shape;
using network::TensorType;

/// Lives during one Operator::define, on one thread. Functions throw UserError if the node does not fit.
class NodeReader {
 public:
  explicit NodeReader(const NodeView& view) : view_(view) {}

  int64_t version() const { return view_.node.version; }
  const std::string& op() const { return view_.node.op; }

  /// Trailing inputs that are left out do not count.
  size_t input_count() const;
  size_t given_count() const { return view_.inputs.size(); }
  /// Inputs that its bodies capture do not count.
  size_t own_count() const;
  bool has(size_t input) const { return input < view_.inputs.size() && view_.inputs[input]; }
  const TensorType& type(size_t input) const;
  const Shape& shape(size_t input) const { return type(input).shape; }
  DType dtype(size_t input) const { return type(input).dtype; }
  size_t rank(size_t input) const { return shape(input).size(); }
  Code code(size_t input) const { return type(input).code; }
  bool is_sequence(size_t input) const { return has(input) && view_.inputs[input]->elements != nullptr; }
  /// The elements of a sequence or optional value; refuses other inputs.
  const std::vector<network::TensorIndex>& elements(size_t input) const;
  /// Nothing if the input's extents are its shape. Known to Expand alone.
  std::optional<network::Count> count(size_t input) const {
    return has(input) ? view_.inputs[input]->count : std::nullopt;
  }
  /// The highest value of an input of one element, if it is known. Known to Expand alone.
  std::optional<int64_t> highest(size_t input) const;
  const network::Node& node() const { return view_.node; }
  /// kAbsent for an input that is left out.
  network::TensorIndex input(size_t input) const {
    return input < view_.node.inputs.size() ? view_.node.inputs[input] : network::kAbsent;
  }
  /// The body in this attribute.
  const network::Body& body(std::string_view attribute) const;
  /// Null if the values are unknown.
  const Constant* constant(size_t input) const;
  /// Throws NeedsConstant if the values are unknown. `what`: the operator's name for the input.
  const Constant& values(size_t input, std::string_view what) const;
  std::vector<int64_t> integers_of(size_t input, std::string_view what) const;
  int64_t integer_of(size_t input, std::string_view what) const;
  std::vector<double> numbers_of(size_t input, std::string_view what) const;

  size_t output_count() const { return view_.node.outputs.size(); }
  bool wants(size_t output) const {
    return output < output_count() && view_.node.outputs[output] != network::kAbsent;
  }

  bool has_attribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise ? 1 : 0) != 0; }
  std::string text(std::string_view name, std::string_view otherwise) const;
  /// An attribute with one of these values, by default the first.
  std::string choice(std::string_view name, std::initializer_list<std::string_view> values) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  std::shared_ptr<const Constant> tensor(std::string_view name) const;
  /// Marks an attribute as read that does not affect the result.
  void ignore(std::string_view name) const { asked_.emplace(name); }

  /// An axis between -rank and rank - 1, counted from the front.
  size_t axis(int64_t given, size_t rank) const;
  /// All axes if none are given.
  std::vector<size_t> axes(const std::optional<std::vector<int64_t>>& given, size_t rank) const;

  /// Throws UserError that says what is refused; the caller adds the node's name.
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const;
  void refuse_unless(bool condition, const std::string& what) const {
    if (!condition) refuse(what);
  }
  /// Refuses attributes that no definition has read: to ignore them would be silently wrong.
  void refuse_unread_attributes() const;
  /// The outputs after the first `count` must be left out; `what` names the first of them.
  void refuse_outputs_after(size_t count, std::string_view what) const;

 private:
  template <typename T>
  const T* find(std::string_view name, std::string_view kind) const;

  const NodeView& view_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// The elements of an integer or floating constant.
std::vector<int64_t> integer_elements(const Constant& constant);
std::vector<double> number_elements(const Constant& constant);

/// Makes a constant that owns its memory.
std::shared_ptr<const Constant> make_constant(DType dtype, Shape shape, const std::vector<int64_t>& integers);
std::shared_ptr<const Constant> make_constant(DType dtype, Shape shape, std::vector<std::byte> bytes);

}  // namespace tunesmith::operators_onnx
