#include "copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::network {
namespace {

/// Without attributes it copies its whole input.
class CopyOperator final : public Operator {
 public:
  Computation define(const NodeView& view) const override {
    TensorType type = view.inputs.at(0)->type;
    if (view.node.attributes.empty()) return {{type}, {}, copy_statement(type.shape)};
    const auto attribute = [&](const char* name) { return std::get<int64_t>(view.node.attributes.at(name)); };
    const auto axis = static_cast<size_t>(attribute("axis"));
    type.shape.at(axis) = attribute("extent");
    return {{type}, {}, copy_statement(type.shape, axis, attribute("begin"))};
  }
};

const CopyOperator kCopy;

}  // namespace

std::string copy_statement(const Shape& shape, size_t axis, int64_t begin) {
  if (shape.empty()) return "out0[i0<1] = in0[0]\n";
  std::vector<std::string> axes, at;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(fmt::format("i{}<{}", i, shape[i]));
    at.push_back(i == axis && begin != 0 ? fmt::format("i{} + {}", i, begin) : fmt::format("i{}", i));
  }
  return fmt::format("out0[{}] = in0[{}]\n", fmt::join(axes, ", "), fmt::join(at, ", "));
}

Node copy_node(std::string name, TensorIndex from, TensorIndex to) {
  return {std::move(name), "tunesmith.Copy", 1, {}, {from}, {to}, &kCopy};
}

Node slice_node(std::string name, TensorIndex whole, TensorIndex part, int64_t axis, int64_t begin,
                int64_t extent) {
  return {std::move(name),
          "tunesmith.Slice",
          1,
          {{"axis", axis}, {"begin", begin}, {"extent", extent}},
          {whole},
          {part},
          &kCopy};
}

}  // namespace tunesmith::network
