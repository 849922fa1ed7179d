// CausalConvWithState: convolves each channel with itself, over its state and the new elements.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

void check(const NodeReader& node) {
  node.refuse_unless(node.rank(0) == 3 && node.dtype(0).is_float(),
                     "expected [batch, channels, length] of floating values");
  const Shape& x = node.shape(0);
  node.refuse_unless(node.rank(1) == 3 && node.shape(1)[0] == x[1] && node.shape(1)[1] == 1,
                     "expected a kernel [channels, 1, width]");
  if (node.has(2))
    node.refuse_unless(node.shape(2) == Shape{x[1]}, "the bias is not one value for each channel");
  if (node.has(3))
    node.refuse_unless(node.shape(3) == Shape{x[0], x[1], node.shape(1)[2] - 1},
                       "the state is not [batch, channels, width - 1]");
  for (size_t i = 1; i < node.input_count(); ++i)
    node.refuse_unless(!node.has(i) || node.dtype(i) == node.dtype(0), "its inputs are of different types");
}

/// t0 is the input behind the state, or behind zeros.
Computation causal_convolution(const NodeReader& node) {
  check(node);
  const DType dtype = node.dtype(0);
  const Shape& shape = node.shape(0);
  const int64_t before = node.shape(1)[2] - 1;
  const std::string own = element(in(0), {"i0", "i1", fmt::format("i2 - {}", before)});
  const Shape all{shape[0], shape[1], shape[2] + before};
  std::string text =
      statement(temporary(0), all,
                node.has(3) && before > 0 ? fmt::format("select(i2 < {}, in3[i0, i1, i2], {})", before, own)
                                          : fmt::format("inside({}, 0)", own));
  const std::string term = to_wide(dtype, element(temporary(0), {"i0", "i1", "i2 + r0"})) + " * " +
                           to_wide(dtype, "in1[i1, 0, r0]");
  text += statement(temporary(1), shape, reduction("sum", {"r0"}, {before + 1}, term));
  std::string value = here(temporary(1), shape);
  if (node.has(2)) value += " + " + to_wide(dtype, "in2[i1]");
  text += statement(temporary(2), shape, value);
  value = here(temporary(2), shape);
  if (node.choice("activation", {"none", "silu", "swish"}) != "none")
    value = fmt::format("{0} * sigmoid({0})", value);
  text += statement(out(0), shape, from_wide(dtype, value));
  const Shape state{shape[0], shape[1], before};
  if (node.wants(1) && before > 0)
    text += statement(out(1), state, element(temporary(0), {"i0", "i1", fmt::format("i2 + {}", shape[2])}));
  return {{{dtype, shape}, {dtype, state}}, {}, text};
}

}  // namespace

std::vector<Row> causal_operators() { return {{"CausalConvWithState", 27, causal_convolution}}; }

}  // namespace tunesmith::operators_onnx
