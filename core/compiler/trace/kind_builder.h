// Makes instruction kinds from primitives. A file primitives/<name>.cpp contains, in this order:
//
//   1. the primitive as a free function on a Program (contract in primitives.h), which checks all
//      requirements before it changes anything, and throws ScheduleError;
//   2. `KindPtr <name>_kind()`: make_transformation(...) with that function and the names of its parameters;
//   3. the typed method of Schedule, which only builds the arguments and calls execute().
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/kinds.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// The arguments of one execution, by position in the kind's parameters. Types are already checked: an
/// accessor of another type is a bug of the kind (InternalError).
class Arguments {
 public:
  Arguments(std::span<const Value> values, const TensorIntrinsics& intrinsics)
      : values_(values), intrinsics_(intrinsics) {}

  const Value& operator[](size_t i) const { return values_[i]; }
  BlockId block(size_t i) const;
  LoopId loop(size_t i) const;
  std::vector<LoopId> loops(size_t i) const;
  int64_t integer(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  std::vector<std::optional<int64_t>> optional_integers(size_t i) const;
  std::vector<double> doubles(size_t i) const;
  const std::string& string(size_t i) const;
  bool boolean(size_t i) const;
  AnnotationValue scalar(size_t i) const;
  /// The intrinsics that the schedule knows by name.
  const TensorIntrinsics& intrinsics() const { return intrinsics_; }

 private:
  std::span<const Value> values_;
  const TensorIntrinsics& intrinsics_;
};

/// Applies the primitive to the program and returns the values of the outputs.
using KindBody = std::function<std::vector<Value>(Program&, const Arguments&)>;

/// The parts of a kind.
struct Primitive {
  std::vector<ParamSpec> params;
  ResultType result = ResultType::None;
  KindBody body;
};

KindPtr make_look_up(std::string name, Primitive primitive);
/// `keeps_on_throw` false: the body may throw after changing the program; the schedule then restores
/// it. The body's changes are undone and refused if they make a parallel, vectorized or bound loop
/// illegal, so a primitive that moves, adds or removes accesses need not check enclosing loops.
KindPtr make_transformation(std::string name, Primitive primitive, bool keeps_on_throw = true);
/// For primitives that cannot make a concurrent loop illegal, or check that themselves.
KindPtr make_loop_transformation(std::string name, Primitive primitive);

/// A primitive's parameter in a trace: its type, and the accessor of its argument.
template <typename T>
struct Parameter;
template <ParamType kType, auto kGet>
struct ParameterOf {
  static constexpr ParamType type = kType;
  static auto get(const Arguments& args, size_t i) { return (args.*kGet)(i); }
};
template <>
struct Parameter<BlockId> : ParameterOf<ParamType::Block, &Arguments::block> {};
template <>
struct Parameter<LoopId> : ParameterOf<ParamType::Loop, &Arguments::loop> {};
template <>
struct Parameter<std::span<const LoopId>> : ParameterOf<ParamType::Loops, &Arguments::loops> {};
template <>
struct Parameter<int64_t> : ParameterOf<ParamType::Int, &Arguments::integer> {};
template <>
struct Parameter<std::span<const int64_t>> : ParameterOf<ParamType::Ints, &Arguments::integers> {};
template <>
struct Parameter<std::span<const std::optional<int64_t>>>
    : ParameterOf<ParamType::OptionalInts, &Arguments::optional_integers> {};
template <>
struct Parameter<std::string_view> : ParameterOf<ParamType::String, &Arguments::string> {};
template <>
struct Parameter<AnnotationValue> : ParameterOf<ParamType::Scalar, &Arguments::scalar> {};

/// The results of a primitive as values of a trace.
inline std::vector<Value> values_of(BlockId block) { return {block}; }
inline std::vector<Value> values_of(LoopId loop) { return {loop}; }
template <typename Id>
std::vector<Value> values_of(const std::vector<Id>& ids) {
  return {ids.begin(), ids.end()};
}
template <typename R>
constexpr ResultType result_type() {
  if constexpr (std::is_void_v<R>) return ResultType::None;
  if constexpr (std::is_same_v<R, BlockId>) return ResultType::Block;
  if constexpr (std::is_same_v<R, LoopId>) return ResultType::Loop;
  if constexpr (std::is_same_v<R, std::vector<BlockId>>) return ResultType::Blocks;
  if constexpr (std::is_same_v<R, std::vector<LoopId>>) return ResultType::Loops;
}

template <typename R, typename... P, size_t... I>
Primitive as_primitive(R (*function)(Program&, P...), std::initializer_list<const char*> names,
                       std::index_sequence<I...>) {
  check_invariant(names.size() == sizeof...(P), "every parameter of a primitive has a name");
  const auto body = [function](Program& program,
                               [[maybe_unused]] const Arguments& args) -> std::vector<Value> {
    if constexpr (std::is_void_v<R>) {
      function(program, Parameter<std::remove_cvref_t<P>>::get(args, I)...);
      return {};
    } else {
      return values_of(function(program, Parameter<std::remove_cvref_t<P>>::get(args, I)...));
    }
  };
  return {{ParamSpec{names.begin()[I], Parameter<std::remove_cvref_t<P>>::type}...}, result_type<R>(), body};
}

/// Makes a kind from a function of a program; `params` are the names of its other parameters.
template <typename R, typename... P>
KindPtr make_look_up(std::string name, R (*function)(Program&, P...),
                     std::initializer_list<const char*> params) {
  return make_look_up(std::move(name), as_primitive(function, params, std::index_sequence_for<P...>()));
}
template <typename R, typename... P>
KindPtr make_transformation(std::string name, R (*function)(Program&, P...),
                            std::initializer_list<const char*> params) {
  return make_transformation(std::move(name),
                             as_primitive(function, params, std::index_sequence_for<P...>()));
}
template <typename R, typename... P>
KindPtr make_loop_transformation(std::string name, R (*function)(Program&, P...),
                                 std::initializer_list<const char*> params) {
  return make_loop_transformation(std::move(name),
                                  as_primitive(function, params, std::index_sequence_for<P...>()));
}

/// The base of the sampling kinds, which repairs or draws the decision.
class SamplingKindBase : public SamplingKind {
 public:
  SamplingKindBase(std::string name, std::vector<ParamSpec> params, ResultType result);

  const std::string& name() const final { return name_; }
  const std::vector<ParamSpec>& params() const final { return params_; }
  ResultType result() const final { return result_; }
  ExecutionResult execute(Program& program, std::span<const Value> args, const Decision* decision,
                          RandomStream& random, const TensorIntrinsics& intrinsics) const final;

 protected:
  /// The domain of the decision. Throws ScheduleError for invalid arguments.
  virtual SamplingDomain domain(const Program& program, const Arguments& args) const = 0;
  /// The outputs of a legal `decision`.
  virtual std::vector<Value> outputs(const Program& program, const Arguments& args,
                                     const SamplingDomain& domain, const Decision& decision) const = 0;

 private:
  std::string name_;
  std::vector<ParamSpec> params_;
  ResultType result_;
};

/// The loop or block with this id. Throws ScheduleError if it no longer exists.
Loop& loop_at(const Program& program, LoopId id, std::string_view primitive);
Block& block_at(const Program& program, BlockId id, std::string_view primitive);

/// The ids of loops.
std::vector<LoopId> ids_of(std::span<Loop* const> loops);
std::vector<BlockId> ids_of(std::span<Block* const> blocks);

/// Trace variables as typed handles and back.
template <typename RV>
RV as_handle(const std::vector<TraceVar>& outputs) {
  check_invariant(outputs.size() == 1, "the instruction has one result");
  return RV{{outputs[0].index}};
}
template <typename RV>
std::vector<RV> as_handles(const std::vector<TraceVar>& outputs) {
  std::vector<RV> handles;
  handles.reserve(outputs.size());
  for (const TraceVar& var : outputs) handles.push_back(RV{{var.index}});
  return handles;
}
inline Arg as_arg(TraceVar handle) { return handle; }
inline Arg as_arg(int64_t number) { return number; }
inline Arg as_arg(const IntArg& number) {
  if (const auto* variable = std::get_if<IntRV>(&number)) return TraceVar{variable->index};
  return std::get<int64_t>(number);
}
inline Arg as_arg(const std::optional<IntArg>& number) { return number ? as_arg(*number) : Arg(); }
template <typename T>
Arg as_arg(const std::vector<T>& items) {
  ArgList list;
  for (const T& item : items) list.push_back(as_arg(item));
  return list;
}

}  // namespace tunesmith
