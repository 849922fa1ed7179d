#include "slice.h"

#include "copy.h"
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
    return {{type}, {}, copy_statement(type.shape, axis, attribute("begin"))};
  }
};

}  // namespace

Node slice_node(std::string name, TensorIndex whole, TensorIndex part, int64_t axis, int64_t begin,
                int64_t extent) {
  static const SliceOperator definition;
  return {
      std::move(name), "tunesmith.Slice", 1, {{"axis", axis}, {"begin", begin}, {"extent", extent}}, {whole},
      {part},          &definition};
}

}  // namespace tunesmith::network
