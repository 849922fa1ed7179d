#include "copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::network {
namespace {

class CopyOperator final : public Operator {
 public:
  Computation define(const NodeView& node) const override {
    const TensorType& type = node.inputs.at(0)->type;
    return {{type}, {}, copy_statement(type.shape)};
  }
};

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

const Operator& copy_operator() {
  static const CopyOperator copy;
  return copy;
}

}  // namespace tunesmith::network
