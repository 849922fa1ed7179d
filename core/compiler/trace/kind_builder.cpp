#include "trace/kind_builder.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/concurrency.h"

namespace tunesmith {
namespace {

template <typename T>
const T& get(const Value& value) {
  const T* held = std::get_if<T>(&value);
  check_invariant(held != nullptr, "an argument has the type its parameter says");
  return *held;
}

class BuiltKind final : public InstructionKind {
 public:
  BuiltKind(std::string name, InstructionSort sort, Primitive primitive, bool keeps, bool guards_concurrency)
      : name_(std::move(name)),
        sort_(sort),
        primitive_(std::move(primitive)),
        keeps_(keeps),
        guards_concurrency_(guards_concurrency) {}

  const std::string& name() const override { return name_; }
  InstructionSort sort() const override { return sort_; }
  const std::vector<ParamSpec>& params() const override { return primitive_.params; }
  ResultType result() const override { return primitive_.result; }
  bool keeps_on_throw() const override { return keeps_; }
  ExecutionResult execute(Program& program, std::span<const Value> args, const Decision*, RandomStream&,
                          const TensorIntrinsics& intrinsics) const override {
    const Arguments arguments(args, intrinsics);
    if (!guards_concurrency_ || !has_concurrent_loop(program))
      return {primitive_.body(program, arguments), {}, {}};
    Program before = program.clone();
    ExecutionResult result{primitive_.body(program, arguments), {}, {}};
    if (const auto refusal = concurrent_loop_refusal(program)) {
      const ScheduleError error(name_, "a concurrent loop would no longer be legal",
                                fmt::format("{}: {}", refusal->reason, refusal->detail), program,
                                refusal->place);
      program = std::move(before);
      throw error;
    }
    return result;
  }

 private:
  std::string name_;
  InstructionSort sort_;
  Primitive primitive_;
  bool keeps_;
  bool guards_concurrency_;
};

}  // namespace

BlockId Arguments::block(size_t i) const { return get<BlockId>(values_[i]); }
LoopId Arguments::loop(size_t i) const { return get<LoopId>(values_[i]); }
int64_t Arguments::integer(size_t i) const { return get<int64_t>(values_[i]); }
const std::string& Arguments::string(size_t i) const { return get<std::string>(values_[i]); }
bool Arguments::boolean(size_t i) const { return get<bool>(values_[i]); }

std::vector<LoopId> Arguments::loops(size_t i) const {
  std::vector<LoopId> result;
  for (const Value& item : get<ValueList>(values_[i])) result.push_back(get<LoopId>(item));
  return result;
}

std::vector<int64_t> Arguments::integers(size_t i) const {
  std::vector<int64_t> result;
  for (const Value& item : get<ValueList>(values_[i])) result.push_back(get<int64_t>(item));
  return result;
}

std::vector<std::optional<int64_t>> Arguments::optional_integers(size_t i) const {
  std::vector<std::optional<int64_t>> result;
  for (const Value& item : get<ValueList>(values_[i])) {
    if (std::holds_alternative<std::monostate>(item)) {
      result.push_back(std::nullopt);
    } else {
      result.push_back(get<int64_t>(item));
    }
  }
  return result;
}

std::vector<double> Arguments::doubles(size_t i) const {
  std::vector<double> result;
  for (const Value& item : get<ValueList>(values_[i])) result.push_back(get<double>(item));
  return result;
}

AnnotationValue Arguments::scalar(size_t i) const {
  const Value& value = values_[i];
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return get<std::string>(value);
}

KindPtr make_look_up(std::string name, Primitive primitive) {
  return std::make_unique<BuiltKind>(std::move(name), InstructionSort::LookUp, std::move(primitive), true,
                                     false);
}

KindPtr make_transformation(std::string name, Primitive primitive, bool keeps_on_throw) {
  return std::make_unique<BuiltKind>(std::move(name), InstructionSort::Transformation, std::move(primitive),
                                     keeps_on_throw, true);
}

KindPtr make_loop_transformation(std::string name, Primitive primitive) {
  return std::make_unique<BuiltKind>(std::move(name), InstructionSort::Transformation, std::move(primitive),
                                     true, false);
}

SamplingKindBase::SamplingKindBase(std::string name, std::vector<ParamSpec> params, ResultType result)
    : name_(std::move(name)), params_(std::move(params)), result_(result) {}

ExecutionResult SamplingKindBase::execute(Program& program, std::span<const Value> args,
                                          const Decision* decision, RandomStream& random,
                                          const TensorIntrinsics& intrinsics) const {
  const Arguments arguments(args, intrinsics);
  ExecutionResult result;
  result.domain = domain(program, arguments);
  result.decision = decision != nullptr ? repair(result.domain, *decision) : propose(result.domain, random);
  result.values = outputs(program, arguments, result.domain, result.decision);
  return result;
}

Loop& loop_at(const Program& program, LoopId id, std::string_view primitive) {
  if (id == kRootLocation || id == kInlineLocation) {
    throw ScheduleError(primitive, "the location is not a loop",
                        id == kRootLocation ? "it is the root" : "it says to inline", program);
  }
  Loop* loop = program.find_loop(id);
  if (loop == nullptr) {
    throw ScheduleMisuse(primitive, "the loop no longer exists", "an earlier transformation replaced it",
                         program);
  }
  return *loop;
}

Block& block_at(const Program& program, BlockId id, std::string_view primitive) {
  Block* block = program.find_block(id);
  if (block == nullptr) {
    throw ScheduleMisuse(primitive, "the block no longer exists", "an earlier transformation replaced it",
                         program);
  }
  return *block;
}

std::vector<LoopId> ids_of(std::span<Loop* const> loops) {
  std::vector<LoopId> ids;
  for (const Loop* loop : loops) ids.push_back(loop->id);
  return ids;
}

std::vector<BlockId> ids_of(std::span<Block* const> blocks) {
  std::vector<BlockId> ids;
  for (const Block* block : blocks) ids.push_back(block->id);
  return ids;
}

}  // namespace tunesmith
