// Traces that the user writes as the text of an option: parsed once, executed on schedules.
//
//   explicit Mine(const Options& options) : trace_(options, "trace", "block = get_block(\"C\")\n") {}
//   ...
//   std::vector<TraceVar> variables{schedule.get_block("C")};
//   for (size_t i = 1; i < trace_.size(); ++i)
//     for (const TraceVar& made : trace_[i].execute(schedule, variables)) variables.push_back(made);
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/plugin.h"
#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// An instruction of a Trace; lives as long as the trace.
class Instruction {
 public:
  explicit Instruction(const tunesmith_instruction& told) : told_(&told) {}

  std::string_view name() const { return detail::view(told_->name); }
  /// The number of results: the next variables of the trace.
  size_t results() const { return told_->results; }
  /// Is it a sampling instruction with a written decision?
  bool decided() const { return told_->decided != 0; }
  /// The offset of its first character in the option's text; 0 in the prologue.
  size_t offset() const { return told_->offset; }
  /// The argument at this position, in the order of docs/schedule.md, if it is a text.
  std::optional<std::string_view> text(size_t position) const {
    if (position >= told_->argument_count) return std::nullopt;
    const tunesmith_value& value = told_->arguments[position];
    if (value.tag != TUNESMITH_TAG_TEXT) return std::nullopt;
    return std::string_view(value.as.text, value.count);
  }

  /// Executes it on a schedule, in which `variables` stand for the trace's first variables. Returns the
  /// results in the schedule, of which there may be more or fewer than results().
  std::vector<TraceVar> execute(Schedule& schedule, const std::vector<TraceVar>& variables) const {
    std::deque<std::vector<tunesmith_value>> lists;
    const std::vector<tunesmith_value> values =
        translated(told_->arguments, told_->argument_count, variables, lists);
    return schedule.execute(told_->kind, values);
  }

 private:
  /// Replaces the trace's variables by the schedule's.
  static std::vector<tunesmith_value> translated(const tunesmith_value* from, uint64_t count,
                                                 const std::vector<TraceVar>& variables,
                                                 std::deque<std::vector<tunesmith_value>>& lists) {
    std::vector<tunesmith_value> values(from, from + count);
    for (tunesmith_value& value : values) {
      if (value.tag == TUNESMITH_TAG_VARIABLE)
        value.as.integer = variables.at(static_cast<size_t>(value.as.integer)).index;
      if (value.tag != TUNESMITH_TAG_LIST) continue;
      lists.push_back(translated(value.as.list, value.count, variables, lists));
      value.as.list = lists.back().data();
    }
    return values;
  }

  const tunesmith_instruction* told_;
};

/// The marker in a trace after which the instructions of finishing modules follow.
inline constexpr std::string_view kFinishingMarker = "enter_finishing";

/// Instructions in text order; an empty text has none. Thread-safe for reading.
class Trace {
 public:
  Trace() = default;
  /// Parses an option's text. The prologue, whole lines before the text, defines names that the text can use.
  /// Throws UserError at the mistake's location in the text.
  Trace(const Options& options, std::string_view option, std::string_view prologue = "") {
    tunesmith_trace* read = nullptr;
    detail::check(
        detail::tables.trace->read(options.handle(), detail::text(option), detail::text(prologue), &read));
    handle_.reset(read);
    detail::check(detail::tables.trace->instructions(read, &instructions_));
  }

  size_t size() const { return instructions_.count; }
  bool empty() const { return size() == 0; }
  Instruction operator[](size_t i) const {
    return Instruction(detail::element<tunesmith_instruction>(instructions_, i));
  }

 private:
  struct Release {
    void operator()(tunesmith_trace* trace) const { detail::tables.trace->release(trace); }
  };
  std::unique_ptr<tunesmith_trace, Release> handle_;
  tunesmith_span instructions_ = {};
};

}  // namespace stable
}  // namespace tunesmith
