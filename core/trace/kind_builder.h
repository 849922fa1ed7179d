// How a primitive becomes an instruction kind. A file primitives/<name>.cpp holds, in this order:
//
//   1. the primitive as a free function on a Program (contract in primitives.h), which checks everything it
//   requires before it
//      changes anything, and throws ScheduleError;
//   2. `KindPtr <name>_kind()`: make_transformation(...) with its parameters and how arguments reach the
//   function;
//   3. the typed method of Schedule, which only builds the arguments and calls execute().
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kinds.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// The arguments of one execution, by position in the kind's parameters. Their types were checked before, so
/// an accessor that does not fit is a bug of the kind (InternalError).
class Arguments {
 public:
  explicit Arguments(std::span<const Value> values) : values_(values) {}

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

 private:
  std::span<const Value> values_;
};

/// Does it to the program and answers the values of the outputs.
using KindBody = std::function<std::vector<Value>(Program&, const Arguments&)>;

KindPtr make_look_up(std::string name, std::vector<ParamSpec> params, ResultType result, KindBody body);
/// `keeps_on_throw` false: the body may throw with the program half changed; the schedule then restores it.
/// What the body did is undone and refused when a parallel, vectorized or bound loop would no longer be
/// legal: whoever moves, adds or removes accesses need not think of the loops around what is accessed.
KindPtr make_transformation(std::string name, std::vector<ParamSpec> params, ResultType result, KindBody body,
                            bool keeps_on_throw = true);
/// For those that cannot make a concurrent loop illegal, or look after that themselves.
KindPtr make_loop_transformation(std::string name, std::vector<ParamSpec> params, ResultType result,
                                 KindBody body);

/// The common part of the sampling kinds: the decision is repaired or drawn in one place.
class SamplingKindBase : public SamplingKind {
 public:
  SamplingKindBase(std::string name, std::vector<ParamSpec> params, ResultType result);

  const std::string& name() const final { return name_; }
  const std::vector<ParamSpec>& params() const final { return params_; }
  ResultType result() const final { return result_; }
  ExecutionResult execute(Program& program, std::span<const Value> args, const Decision* decision,
                          RandomStream& random) const final;

 protected:
  /// What can be decided here. Throws ScheduleError when the arguments make no sense.
  virtual SamplingDomain domain(const Program& program, const Arguments& args) const = 0;
  /// The outputs that `decision`, which is legal, stands for.
  virtual std::vector<Value> outputs(const Program& program, const Arguments& args,
                                     const SamplingDomain& domain, const Decision& decision) const = 0;

 private:
  std::string name_;
  std::vector<ParamSpec> params_;
  ResultType result_;
};

/// The loop or block named, or a ScheduleError that says that it exists no more.
Loop& loop_at(const Program& program, LoopId id, std::string_view primitive);
Block& block_at(const Program& program, BlockId id, std::string_view primitive);

/// Ids as results.
std::vector<Value> values_of(std::span<const LoopId> loops);
std::vector<Value> values_of(std::span<const BlockId> blocks);

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
inline Arg as_arg(const IntArg& number) {
  if (const auto* variable = std::get_if<IntRV>(&number)) return TraceVar{variable->index};
  return std::get<int64_t>(number);
}
template <typename RV>
Arg as_arg(const std::vector<RV>& handles) {
  ArgList list;
  for (const RV& handle : handles) list.emplace_back(TraceVar{handle.index});
  return list;
}

}  // namespace tunesmith
