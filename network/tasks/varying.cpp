#include "tunesmith/network/varying.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"

namespace tunesmith::network {

bool ExtentForm::varies() const {
  return std::ranges::any_of(factors, [](int64_t factor) { return factor != 0; });
}

int64_t ExtentForm::at(std::span<const int64_t> values) const {
  check_invariant(values.size() == factors.size(), "a value for each extent that varies");
  int64_t sum = constant;
  for (size_t i = 0; i < factors.size(); ++i) sum += factors[i] * values[i];
  return sum;
}

std::string ExtentForm::text(std::span<const std::string> names) const {
  std::string sum;
  size_t terms = 0;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == 0) continue;
    sum += terms++ > 0 ? " + " : "";
    sum += factors[i] == 1 ? names[i] : fmt::format("{} * {}", factors[i], names[i]);
  }
  if (terms == 0) return std::to_string(constant);
  if (constant != 0) sum += fmt::format(" {} {}", constant < 0 ? '-' : '+', std::abs(constant));
  return sum.find(' ') == std::string::npos ? sum : "(" + sum + ")";
}

Shape shape_at(const Shape& shape, const ShapeForm& form, std::span<const int64_t> values) {
  if (form.empty()) return shape;
  Shape made;
  for (const ExtentForm& extent : form) made.push_back(extent.at(values));
  return made;
}

std::string text_of_values(std::span<const VaryingExtent> varying, std::span<const int64_t> values) {
  std::vector<std::string> each;
  for (size_t i = 0; i < values.size(); ++i) each.push_back(fmt::format("{}={}", varying[i].name, values[i]));
  return fmt::format("{}", fmt::join(each, ", "));
}

Program parameters_of(std::span<const VaryingExtent> varying) {
  Program program;
  for (const VaryingExtent& extent : varying)
    program.parameters.push_back(
        {Var::parameter(extent.parameter, extent.range.lowest, extent.range.highest), extent.range.typical});
  return program;
}

std::optional<ExtentForm> FormFinder::find(std::span<const int64_t> computed) const {
  check_invariant(computed.size() == values_.size(), "one for each of the values");
  const std::vector<int64_t>& first = values_.front();
  ExtentForm form{computed.front(), {}};
  for (size_t i = 0; i < first.size(); ++i) {
    const int64_t step = first[i] - values_[i + 1][i], change = computed.front() - computed[i + 1];
    if (change % step != 0) return std::nullopt;
    form.factors.push_back(change / step);
    form.constant -= form.factors.back() * first[i];
  }
  for (size_t i = 0; i < values_.size(); ++i)
    if (form.at(values_[i]) != computed[i]) return std::nullopt;
  return form;
}

}  // namespace tunesmith::network
