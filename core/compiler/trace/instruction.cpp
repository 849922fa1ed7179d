#include "tunesmith/trace/instruction.h"

#include <algorithm>

namespace tunesmith {
namespace {

template <typename... Ts>
bool holds(const Value& value) {
  return (std::holds_alternative<Ts>(value) || ...);
}

template <typename... Ts>
bool holds_list(const Value& value) {
  const auto* list = std::get_if<ValueList>(&value);
  return list != nullptr &&
         std::all_of(list->begin(), list->end(), [](const Value& item) { return holds<Ts...>(item); });
}

}  // namespace

Decision SamplingKind::carry_over(const Decision& decision, std::span<const Arg> /*from*/,
                                  std::span<const Arg> /*to*/) const {
  return decision;
}

bool fits(const Value& value, ParamType type) {
  switch (type) {
    case ParamType::Block:
      return holds<BlockId>(value);
    case ParamType::Loop:
      return holds<LoopId>(value);
    case ParamType::LoopOrBlock:
      return holds<LoopId, BlockId>(value);
    case ParamType::Loops:
      return holds_list<LoopId>(value);
    case ParamType::Int:
      return holds<int64_t>(value);
    case ParamType::Ints:
      return holds_list<int64_t>(value);
    case ParamType::OptionalInts:
      return holds_list<int64_t, std::monostate>(value);
    case ParamType::Doubles:
      return holds_list<double>(value);
    case ParamType::String:
      return holds<std::string>(value);
    case ParamType::Scalar:
      return holds<int64_t, double, std::string>(value);
    case ParamType::Bool:
      return holds<bool>(value);
    case ParamType::BlockOrRootOrLoop:
      return holds<BlockId, LoopId, std::monostate>(value);
  }
  return false;
}

std::string_view describe(ParamType type) {
  switch (type) {
    case ParamType::Block:
      return "a block";
    case ParamType::Loop:
      return "a loop";
    case ParamType::LoopOrBlock:
      return "a loop or a block";
    case ParamType::Loops:
      return "a list of loops";
    case ParamType::Int:
      return "an integer";
    case ParamType::Ints:
      return "a list of integers";
    case ParamType::OptionalInts:
      return "a list of integers or None";
    case ParamType::Doubles:
      return "a list of numbers";
    case ParamType::String:
      return "a string";
    case ParamType::Scalar:
      return "a number or a string";
    case ParamType::Bool:
      return "True or False";
    case ParamType::BlockOrRootOrLoop:
      return "a block, a loop or root";
  }
  return "";
}

}  // namespace tunesmith
