// Asin, Acos and Atan, for which the workload language has no functions.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// (x - atan(x)) / x^3 as a polynomial of z = x * x, for |x| up to 7/16: the coefficients of fdlibm's
/// s_atan.c.
constexpr double kCoefficients[] = {
    3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
    -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
    6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
    -3.65315727442169155270e-02, 1.62858201153657823623e-02};

std::string polynomial(const std::string& z) {
  std::string value;
  for (size_t i = std::size(kCoefficients); i-- > 0;)
    value = value.empty() ? fmt::format("{:.17g}", kCoefficients[i])
                          : fmt::format("({:.17g} + {} * {})", kCoefficients[i], z, value);
  return value;
}

/// Computes `result` from the arctangent of `argument`; {0} in `result` stands for the arctangent.
Computation by_arctangent(const NodeReader& node, std::string_view argument, std::string_view result) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype.is_float(), "expected floating values");
  const Shape& shape = node.shape(0);
  const auto of = [&](size_t number) { return here(temporary(number), shape); };
  const std::string x = to_wide(dtype, here(in(0), shape));
  std::string text = statement(temporary(0), shape, fmt::format(fmt::runtime(argument), x));
  // atan(1 / x) = pi / 2 - atan(x) reduces to [0, 1], a second step to [-tan(pi / 8), tan(pi / 8)].
  text += statement(temporary(1), shape, fmt::format("select(abs({0}) > 1, 1 / abs({0}), abs({0}))", of(0)));
  const std::string is_large = of(1) + " > 0.4142135623730951";
  text +=
      statement(temporary(2), shape, fmt::format("select({0}, ({1} - 1) / ({1} + 1), {1})", is_large, of(1)));
  text += statement(
      temporary(3), shape,
      fmt::format("{0} - {0} * ({0} * {0}) * {1}", of(2), polynomial(fmt::format("({0} * {0})", of(2)))));
  text += statement(temporary(4), shape,
                    fmt::format("select({0}, {1} + 0.7853981633974483, {1})", is_large, of(3)));
  text += statement(temporary(5), shape,
                    fmt::format("select(abs({0}) > 1, 1.5707963267948966 - {1}, {1})", of(0), of(4)));
  const std::string arctangent = fmt::format("select({0} < 0, -{1}, {1})", of(0), of(5));
  return finished(dtype, shape, text, fmt::format(fmt::runtime(result), arctangent));
}

Define inverse(std::string_view argument, std::string_view result) {
  return [argument, result](const NodeReader& node) { return by_arctangent(node, argument, result); };
}

}  // namespace

std::vector<Row> inverse_operators() {
  return {{"Atan", 7, inverse("{0}", "{0}")},
          {"Asin", 7, inverse("{0} / sqrt((1 - {0}) * (1 + {0}))", "{0}")},
          {"Acos", 7, inverse("sqrt((1 - {0}) / (1 + {0}))", "2 * {0}")}};
}

}  // namespace tunesmith::operators_onnx
