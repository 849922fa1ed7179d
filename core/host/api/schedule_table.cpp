#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/handles.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith::api {
namespace {

const InstructionKind& kind_behind(const tunesmith_kind* kind) {
  return *reinterpret_cast<const InstructionKind*>(&given(kind, "schedule.call"));
}

Arg argument(const tunesmith_value& value);

ArgList list_argument(const tunesmith_value& value) {
  ArgList list;
  list.reserve(value.count);
  for (uint32_t i = 0; i < value.count; ++i) list.push_back(argument(value.as.list[i]));
  return list;
}

Arg argument(const tunesmith_value& value) {
  switch (value.tag) {
    case TUNESMITH_TAG_NONE:
      return {};
    case TUNESMITH_TAG_BOOLEAN:
      return value.as.integer != 0;
    case TUNESMITH_TAG_INTEGER:
      return value.as.integer;
    case TUNESMITH_TAG_REAL:
      return value.as.real;
    case TUNESMITH_TAG_TEXT:
      return std::string(value.as.text, value.count);
    case TUNESMITH_TAG_LIST:
      return list_argument(value);
    case TUNESMITH_TAG_VARIABLE:
      return TraceVar{static_cast<uint32_t>(value.as.integer)};
    default:
      misuse("schedule.call", "an argument has an unknown tag", std::to_string(value.tag));
  }
}

const tunesmith_kind* find_kind(tunesmith_text name) noexcept {
  return reinterpret_cast<const tunesmith_kind*>(InstructionRegistry::global().find(view(name)));
}

tunesmith_error* call(tunesmith_schedule* schedule, const tunesmith_kind* kind, const tunesmith_value* values,
                      uint64_t count, tunesmith_variables* results) noexcept {
  return guarded([&] {
    const InstructionKind& what = kind_behind(kind);
    tunesmith_schedule& at = given(schedule, what.name());
    tunesmith_variables& out = given(results, what.name());
    std::vector<Arg> args;
    args.reserve(what.params().size());
    for (uint64_t i = 0; i < count; ++i) args.push_back(argument(values[i]));
    // Look-ups and samplings leave the program unchanged.
    if (what.sort() == InstructionSort::Transformation) at.program.forget();
    const std::vector<TraceVar> made = at.schedule.execute(what, std::move(args));
    out = {made.empty() ? 0 : made.front().index, static_cast<uint32_t>(made.size())};
  });
}

tunesmith_error* clone(const tunesmith_schedule* schedule, tunesmith_schedule** copy) noexcept {
  return guarded([&] {
    given(copy, "schedule.clone") =
        std::make_unique<tunesmith_schedule>(given(schedule, "schedule.clone").schedule.clone()).release();
  });
}

void release(tunesmith_schedule* schedule) noexcept { delete schedule; }

const tunesmith_program* program(const tunesmith_schedule* schedule) noexcept {
  return schedule == nullptr ? nullptr : &schedule->program;
}

/// Calls `look_up(Schedule)`; reports a variable of the wrong kind.
template <typename Answer, typename LookUp>
tunesmith_error* look_up(const tunesmith_schedule* schedule, Answer* answer, std::string_view call,
                         LookUp look_up) noexcept {
  return guarded([&] {
    Answer& out = given(answer, call);
    try {
      out = static_cast<Answer>(look_up(given(schedule, call).schedule));
    } catch (const std::bad_variant_access&) {
      misuse(call, "the variable has another type");
    }
  });
}

tunesmith_error* integer(const tunesmith_schedule* schedule, uint32_t variable, int64_t* number) noexcept {
  return look_up(schedule, number, "schedule.integer",
                 [&](const Schedule& at) { return at.value(IntRV{{variable}}); });
}

tunesmith_error* block(const tunesmith_schedule* schedule, uint32_t variable, uint32_t* id) noexcept {
  return look_up(schedule, id, "schedule.block",
                 [&](const Schedule& at) { return at.block_id(BlockRV{{variable}}); });
}

tunesmith_error* loop(const tunesmith_schedule* schedule, uint32_t variable, uint32_t* id) noexcept {
  return look_up(schedule, id, "schedule.loop",
                 [&](const Schedule& at) { return at.location(LoopRV{{variable}}); });
}

}  // namespace

const tunesmith_schedule_table k_schedule_table = {
    sizeof(tunesmith_schedule_table), find_kind, call, clone, release, program, integer, block, loop};

}  // namespace tunesmith::api
