#include "slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {
namespace {

class SliceOperator final : public Operator {
 public:
  Computation define(const NodeView& view) const override {
    const auto attribute = [&](const char* name) { return std::get<int64_t>(view.node.attributes.at(name)); };
    const auto axis = static_cast<size_t>(attribute("axis"));
    TensorType type = view.inputs.at(0)->type;
    type.shape.at(axis) = attribute("extent");
    std::vector<std::string> axes, at;
    for (size_t i = 0; i < type.shape.size(); ++i) {
      axes.push_back(fmt::format("i{}<{}", i, type.shape[i]));
      at.push_back(i == axis ? fmt::format("i{} + {}", i, attribute("begin")) : fmt::format("i{}", i));
    }
    return {{type}, {}, fmt::format("out0[{}] = in0[{}]\n", fmt::join(axes, ", "), fmt::join(at, ", "))};
  }
};

}  // namespace

Node slice_node(std::string name, TensorIndex whole, TensorIndex part, int64_t axis, int64_t begin,
                int64_t extent) {
  static const SliceOperator definition;
  return {std::move(name), "Slice", 1,          {{"axis", axis}, {"begin", begin}, {"extent", extent}},
          {whole},         {part},  &definition};
}

}  // namespace tunesmith::network
