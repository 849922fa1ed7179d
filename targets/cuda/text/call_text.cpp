#include "text/call_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "machine/execution.h"
#include "text/address_parts.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {
namespace {

using Words = std::map<std::string, std::string>;
using Functions = std::map<std::string, std::function<std::string(const std::string&)>>;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The position after the bracket that closes the one at `open`.
size_t end_of_brackets(const std::string& text, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  throw LowerError("cuda", "a fragment of CUDA C++ leaves a bracket open", text);
}

/// An operand of the adjacent operators in the fragment, in brackets; an argument alone between two commas or
/// brackets needs none.
std::string as_operand(const std::string& text, const std::string& before, const std::string& behind) {
  constexpr const char* kBlank = " \t\n";
  const size_t left = before.find_last_not_of(kBlank);
  const size_t right = behind.find_first_not_of(kBlank);
  const bool begins = left == std::string::npos || before[left] == '(' || before[left] == ',';
  const bool ends = right == std::string::npos || behind[right] == ')' || behind[right] == ',';
  return (begins && ends) || std::ranges::all_of(text, is_word) ? text : "(" + text + ")";
}

/// Replaces the words in `words`, and calls of `functions` by their results.
std::string put_in(const std::string& text, const Words& words, const Functions& functions) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == begin) {
      result += text[begin++];
      continue;
    }
    const std::string word = text.substr(begin, end - begin);
    const auto function = functions.find(word);
    if (function != functions.end() && end < text.size() && text[end] == '(') {
      begin = end_of_brackets(text, end);
      result += as_operand(function->second(put_in(text.substr(end, begin - end), words, functions)), result,
                           text.substr(begin));
      continue;
    }
    const auto known = words.find(word);
    result += known == words.end() ? word : as_operand(known->second, result, text.substr(end));
    begin = end;
  }
  return result;
}

/// Index of the piece of a held buffer that the call accesses.
std::string held_piece(const TensorCall::Operand& operand, int64_t elements, const Analyzer& ranges,
                       const Names& names, ExprText& exprs) {
  if (!is_held(operand.buffer) || !ranges.can_prove_equal(floormod(operand.offset, elements), 0))
    throw LowerError("cuda", "a call is about a part of what a group holds in one piece",
                     operand.buffer->name);
  const Expr piece = ranges.simplify(floordiv(operand.offset, elements));
  return fmt::format("{}[{}]", names.of(operand.buffer.get()), exprs.text(piece, ranges));
}

}  // namespace

std::string waiting_line(const std::string& text, int64_t pending) {
  return put_in(text, {{"pending", fmt::format("{}", pending)}}, {});
}

std::vector<std::string> call_lines(const Loop& loop, Names& names, ExprText& exprs, BoxCopies& copies) {
  const TensorCall call = tensor_call(loop);
  const Analyzer ranges = Analyzer::at(loop);
  const TensorIntrinsic& intrinsic = *call.intrinsic;
  const auto found = intrinsic.implementations.find("cuda");
  if (found == intrinsic.implementations.end() || found->second.form != TensorImplementation::Form::Fragment)
    throw LowerError("cuda", "an intrinsic has no fragment of CUDA C++", intrinsic.name);
  Words words;
  Functions functions;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const TensorOperand& declared = intrinsic.operands[i];
    const TensorCall::Operand& operand = call.operands[i];
    const std::string& name = declared.buffer->name;
    if (intrinsic.bulk_copy && i > 0) {
      const BoxPlace place = box_place(call, i, ranges, names, exprs, copies);
      words[name + "_map"] = place.map;
      words[name + "_load"] = place.load;
      words[name + "_place"] = place.place;
      words["arrival"] = copies.arrival;
    } else if (declared.layout.empty()) {
      AddressParts parts{operand.offset};
      if (found->second.text.find(name + "_offset") != std::string::npos)
        parts = address_parts(operand.offset, loop);
      words[name] = fmt::format("&{}[{}]", exprs.name_of(operand.buffer), exprs.text(parts.fixed, ranges));
      words[name + "_offset"] = moving_text(parts, ranges, exprs);
      functions[name + "_at"] = [&](const std::string& own) {
        const uint64_t bits = bits_of_tile(declared.buffer->shape, operand.strides);
        const Swizzle& swizzle = operand.buffer->swizzle;
        return address_text(operand.buffer, address_parts(operand.offset, loop, swizzle, bits), own, ranges,
                            exprs);
      };
      const size_t free = declared.free_dimension();
      if (free < operand.strides.size()) words[name + "_stride"] = fmt::format("{}", operand.strides[free]);
    } else {
      words[name] = held_piece(operand, declared.buffer->elements(), ranges, names, exprs);
    }
  }
  std::vector<std::string> lines;
  std::istringstream text(put_in(found->second.text, words, functions));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string held_declaration(const TensorOperand& operand, const Buffer& buffer, const std::string& name) {
  const size_t bracket = std::min(operand.registers.find('['), operand.registers.size());
  return fmt::format("{} {}[{}]{};", operand.registers.substr(0, bracket), name,
                     std::max<int64_t>(buffer->span() / operand.buffer->elements(), 1),
                     operand.registers.substr(bracket));
}

}  // namespace tunesmith::cuda
