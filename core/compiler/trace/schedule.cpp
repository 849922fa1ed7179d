#include "tunesmith/trace/schedule.h"

#include <utility>

#include <fmt/format.h>

#include "trace/counted_buffers.h"
#include "trace/kind_builder.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Replaces the variables of an argument by their values.
Value resolve(const Arg& arg, const std::vector<Value>& values, const InstructionKind& kind) {
  switch (arg.index()) {
    case 0:
      return {};
    case 1: {
      const uint32_t index = std::get<TraceVar>(arg).index;
      if (index >= values.size()) {
        throw ScheduleMisuse(kind.name(), "an argument is a variable of another schedule",
                             fmt::format("variable {} of {}", index, values.size()));
      }
      return values[index];
    }
    case 2:
      return std::get<bool>(arg);
    case 3:
      return std::get<int64_t>(arg);
    case 4:
      return std::get<double>(arg);
    case 5:
      return std::get<std::string>(arg);
    default:
      break;
  }
  ValueList list;
  const auto& args = std::get<ArgList>(arg);
  list.reserve(args.size());
  for (const Arg& item : args) list.push_back(resolve(item, values, kind));
  return list;
}

std::vector<Value> resolve_all(const InstructionKind& kind, std::span<const Arg> args,
                               const std::vector<Value>& values) {
  const std::vector<ParamSpec>& params = kind.params();
  if (args.size() != params.size()) {
    throw ScheduleMisuse(kind.name(), "wrong number of arguments",
                         fmt::format("{}, not {}", args.size(), params.size()));
  }
  std::vector<Value> result;
  result.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    result.push_back(resolve(args[i], values, kind));
    if (!fits(result.back(), params[i].type)) {
      throw ScheduleMisuse(kind.name(), "an argument has the wrong type",
                           fmt::format("{} must be {}", params[i].name, describe(params[i].type)));
    }
  }
  return result;
}

/// The maximum nesting of statements, since programs are walked
/// recursively. A workload has at most 64 axes, each tiled a few times.
constexpr size_t kMaxProgramNesting = 512;

bool nests_deeper(const Stmt& stmt, size_t levels) {
  if (levels == 0) return true;
  bool deeper = false;
  visit_children(stmt, [&](const Stmt& child) { deeper = deeper || nests_deeper(child, levels - 1); });
  return deeper;
}

}  // namespace

Schedule::Schedule(const Program& program, RandomStream random,
                   std::shared_ptr<const TensorIntrinsics> intrinsics)
    : program_(program.clone()), random_(random), intrinsics_(std::move(intrinsics)) {}
Schedule::Schedule(const Schedule& other)
    : program_(other.program_.clone()),
      trace_(other.trace_),
      points_(other.points_),
      values_(other.values_),
      random_(other.random_),
      intrinsics_(other.intrinsics_),
      finishing_(other.finishing_) {}
Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;
Schedule::~Schedule() = default;

Schedule Schedule::clone() const { return *this; }

const TensorIntrinsics& Schedule::intrinsics() const {
  return intrinsics_ == nullptr ? TensorIntrinsics::global() : *intrinsics_;
}

const InstructionKind& Schedule::kind(std::string_view name) {
  const InstructionKind* found = InstructionRegistry::global().find(name);
  check_invariant(found != nullptr, name);
  return *found;
}

Block& Schedule::block(BlockRV rv) const { return block_at(program_, block_id(rv), "block"); }

BlockId Schedule::block_id(BlockRV rv) const {
  return std::get<BlockId>(resolve(TraceVar{rv.index}, values_, kind("get_block")));
}

Loop& Schedule::loop(LoopRV rv) const { return loop_at(program_, location(rv), "loop"); }

LoopId Schedule::location(LoopRV rv) const {
  return std::get<LoopId>(resolve(TraceVar{rv.index}, values_, kind("get_loops")));
}

int64_t Schedule::value(IntRV rv) const {
  return std::get<int64_t>(resolve(TraceVar{rv.index}, values_, kind("sample_categorical")));
}

ExecutionResult Schedule::perform(const InstructionKind& kind, std::span<const Arg> args,
                                  const Decision* decision) {
  const std::vector<Value> arguments = resolve_all(kind, args, values_);
  const bool marker = kind.name() == kFinishingMarker;
  if (marker && finishing_) throw ScheduleError(kind.name(), "the finishing part has already begun", "");
  // One instruction adds little depth, so the deeper program can still be walked; then it is refused.
  if (kind.sort() == InstructionSort::Transformation && nests_deeper(program_.root(), kMaxProgramNesting))
    throw ScheduleError(kind.name(), "loops and blocks are nested too deeply",
                        fmt::format("more than {} levels", kMaxProgramNesting));
  ExecutionResult result;
  if (kind.keeps_on_throw()) {
    result = kind.execute(program_, arguments, decision, random_, intrinsics());
  } else {
    Program before = program_.clone();
    try {
      result = kind.execute(program_, arguments, decision, random_, intrinsics());
    } catch (const ScheduleError&) {
      program_ = std::move(before);
      throw;
    }
  }
  finishing_ = finishing_ || marker;
  return result;
}

void Schedule::note_point(const InstructionKind& kind, SamplingDomain domain) {
  if (finishing_) return;
  points_.push_back({trace_.size(), static_cast<const SamplingKind*>(&kind), std::move(domain)});
}

std::vector<TraceVar> Schedule::execute(const InstructionKind& kind, std::vector<Arg> args,
                                        const std::optional<Decision>& decision) {
  const std::vector<ParamSpec>& params = kind.params();
  for (size_t i = args.size(); i < params.size() && params[i].fallback.has_value(); ++i) {
    args.push_back(*params[i].fallback);
  }
  ExecutionResult result = perform(kind, args, decision.has_value() ? &*decision : nullptr);

  std::vector<TraceVar> outputs;
  outputs.reserve(result.values.size());
  for (Value& value : result.values) {
    outputs.push_back({static_cast<uint32_t>(values_.size())});
    values_.push_back(std::move(value));
  }
  std::optional<Decision> taken;
  if (kind.sort() == InstructionSort::Sampling) {
    note_point(kind, std::move(result.domain));
    taken = std::move(result.decision);
  }
  trace_.append(
      std::make_shared<const Instruction>(Instruction{&kind, std::move(args), outputs, std::move(taken)}));
  return outputs;
}

void Schedule::replay_instruction(std::shared_ptr<const Instruction> instruction) {
  const InstructionKind& kind = *instruction->kind;
  if (instruction->counts_buffers) {
    check_buffers_are_accesses(kind, resolve_all(kind, instruction->args, values_), program_);
    // Here buffers and accesses have equal numbers, so the instruction may count accesses from now on.
    auto counted = std::make_shared<Instruction>(*instruction);
    counted->counts_buffers = false;
    instruction = std::move(counted);
  }
  ExecutionResult result =
      perform(kind, instruction->args, instruction->decision.has_value() ? &*instruction->decision : nullptr);
  if (result.values.size() != instruction->outputs.size()) {
    throw ScheduleError(
        kind.name(), "the trace expects another number of results",
        fmt::format("{} results, {} in the trace", result.values.size(), instruction->outputs.size()),
        program_);
  }
  for (size_t i = 0; i < result.values.size(); ++i) {
    check_invariant(instruction->outputs[i].index == values_.size(),
                    "a trace numbers its variables in order");
    values_.push_back(std::move(result.values[i]));
  }
  if (kind.sort() == InstructionSort::Sampling) {
    note_point(kind, std::move(result.domain));
    if (instruction->decision != result.decision) {
      auto repaired = std::make_shared<Instruction>(*instruction);
      repaired->decision = std::move(result.decision);
      instruction = std::move(repaired);
    }
  }
  trace_.append(std::move(instruction));
}

tl::expected<Schedule, ScheduleError> replay(const Program& program, const Trace& trace, RandomStream random,
                                             size_t* refused_at,
                                             std::shared_ptr<const TensorIntrinsics> intrinsics) {
  Schedule schedule(program, random, std::move(intrinsics));
  try {
    for (size_t i = 0; i < trace.size(); ++i) schedule.replay_instruction(trace.shared(i));
  } catch (const ScheduleError& error) {
    if (refused_at != nullptr) *refused_at = schedule.trace().size();
    return tl::unexpected(error);
  }
  return schedule;
}

}  // namespace tunesmith
