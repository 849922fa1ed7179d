// Einsum.
#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The term with one character for each axis: the axes of "..." are digits that count down to 0.
std::string letters_of(const NodeReader& node, const std::string& term, size_t rank) {
  const size_t dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) {
    node.refuse_unless(rank + 3 >= term.size() && rank + 3 - term.size() <= 10,
                       "an operand has too few axes, or too many");
    std::string digits;
    for (size_t count = rank + 3 - term.size(); count > 0; --count)
      digits += static_cast<char>('0' + count - 1);
    letters.replace(dots, 3, digits);
  }
  node.refuse_unless(
      letters.size() == rank &&
          std::ranges::all_of(letters, [](char c) { return std::isalnum(static_cast<unsigned char>(c)); }),
      fmt::format("'{}' does not name the axes of its operand", term));
  return letters;
}

struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::map<char, int64_t> extents;
};

/// Without "->" the result has the axes of "...", then the letters that occur once, sorted.
std::string implicit_result(const Equation& equation) {
  std::map<char, int> counts;
  for (const std::string& letters : equation.operands)
    for (const char letter : letters) ++counts[letter];
  std::string digits, once;
  for (const auto& [letter, count] : counts) {
    if (letter <= '9')
      digits.insert(digits.begin(), letter);
    else if (count == 1)
      once += letter;
  }
  return digits + once;
}

Equation read_equation(const NodeReader& node) {
  std::string text = node.text("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Equation made;
  std::string left = text.substr(0, arrow) + ",";
  for (size_t begin = 0, end = 0; (end = left.find(',', begin)) != std::string::npos; begin = end + 1) {
    const size_t operand = made.operands.size();
    node.refuse_unless(operand < node.input_count(), "the equation has more operands than there are inputs");
    made.operands.push_back(letters_of(node, left.substr(begin, end - begin), node.rank(operand)));
    for (size_t i = 0; i < made.operands.back().size(); ++i) {
      const auto [known, is_new] = made.extents.emplace(made.operands.back()[i], node.shape(operand)[i]);
      node.refuse_unless(is_new || known->second == node.shape(operand)[i],
                         fmt::format("the axes '{}' have different extents", known->first));
    }
  }
  node.refuse_unless(made.operands.size() == node.input_count(),
                     "the equation has fewer operands than there are inputs");
  if (arrow == std::string::npos) {
    made.result = implicit_result(made);
    return made;
  }
  made.result = text.substr(arrow + 2);
  if (const size_t dots = made.result.find("..."); dots != std::string::npos) {
    std::string digits;
    for (const auto& [letter, extent] : made.extents)
      if (letter <= '9') digits.insert(digits.begin(), letter);
    made.result.replace(dots, 3, digits);
  }
  return made;
}

Computation einsum(const NodeReader& node) {
  const Equation equation = read_equation(node);
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  std::map<char, std::string> names;
  Shape shape, reduced;
  Indices axes;
  for (const char letter : equation.result) {
    node.refuse_unless(equation.extents.contains(letter) && !names.contains(letter),
                       fmt::format("the result's axis '{}' is unknown, or there twice", letter));
    names[letter] = fmt::format("i{}", shape.size());
    shape.push_back(equation.extents.at(letter));
  }
  for (const auto& [letter, extent] : equation.extents) {
    if (names.contains(letter)) continue;
    names[letter] = fmt::format("r{}", axes.size());
    axes.push_back(names[letter]);
    reduced.push_back(extent);
  }
  std::string term;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    node.refuse_unless(node.dtype(i) == dtype, "its operands are of different types");
    Indices at;
    for (const char letter : equation.operands[i]) at.push_back(names.at(letter));
    term += (i == 0 ? "" : " * ") + to_wide(dtype, element(in(i), at));
  }
  return computed(dtype, shape, summed(dtype, shape, axes, reduced, term));
}

}  // namespace

std::vector<Row> einsum_operators() { return {{"Einsum", 12, einsum}}; }

}  // namespace tunesmith::operators_onnx
