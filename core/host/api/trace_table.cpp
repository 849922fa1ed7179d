#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/handles.h"
#include "tunesmith/trace/trace.h"

/// The arrays point into the trace's instructions.
struct tunesmith_trace {
  tunesmith::Trace trace = {};
  std::vector<tunesmith_instruction> instructions = {};
  std::deque<std::vector<tunesmith_value>> lists = {};
};

namespace tunesmith::api {
namespace {

/// An option's text after the version line, which must be first, and a prologue.
class TextWithPrologue {
 public:
  TextWithPrologue(const std::string& text, std::string_view prologue)
      : text_(text),
        version_(text.starts_with("# tunesmith trace") ? text.find('\n') + 1 : 0),
        prologue_(prologue),
        prologue_lines_(static_cast<int>(std::ranges::count(prologue, '\n'))) {}

  std::string str() const {
    return text_.substr(0, version_) + std::string(prologue_) + text_.substr(version_);
  }

  /// Maps a location in str() to the offset in the option's text; nothing for the prologue.
  std::optional<size_t> offset(const SourceLocation& place) const {
    const int version_lines = version_ > 0 ? 1 : 0;
    int line = place.line;
    if (line > version_lines) {
      line -= prologue_lines_;
      if (line <= version_lines) return std::nullopt;
    }
    size_t begin = 0;
    for (int i = 1; i < line; ++i) begin = text_.find('\n', begin) + 1;
    return begin + static_cast<size_t>(std::max(place.column - 1, 0));
  }

 private:
  const std::string& text_;
  size_t version_;  // characters of the version line
  std::string_view prologue_;
  int prologue_lines_;
};

/// Throws the parser's error with a location in the option's text.
[[noreturn]] void fail_there(const Options& options, std::string_view option, const TextWithPrologue& text,
                             const UserError& error) {
  const std::optional<size_t> offset = text.offset(error.location());
  const std::string what = error.what();
  if (!offset) misuse("trace.read", "the prologue is not a trace", what);
  const std::string place = error.location().str() + ": ";
  options.fail(option, *offset, what.starts_with(place) ? what.substr(place.size()) : what);
}

tunesmith_value argument_value(tunesmith_trace& of, const Arg& arg) {
  if (const auto* variable = std::get_if<TraceVar>(&arg)) {
    tunesmith_value value = value_of(int64_t{variable->index});
    value.tag = TUNESMITH_TAG_VARIABLE;
    return value;
  }
  if (const auto* yes = std::get_if<bool>(&arg)) {
    tunesmith_value value = value_of(int64_t{*yes ? 1 : 0});
    value.tag = TUNESMITH_TAG_BOOLEAN;
    return value;
  }
  if (const auto* whole = std::get_if<int64_t>(&arg)) return value_of(*whole);
  if (const auto* real = std::get_if<double>(&arg)) return value_of(*real);
  if (const auto* string = std::get_if<std::string>(&arg)) return value_of(std::string_view(*string));
  tunesmith_value value = {};
  if (const auto* list = std::get_if<ArgList>(&arg)) {
    std::vector<tunesmith_value> items;
    for (const Arg& item : *list) items.push_back(argument_value(of, item));
    value = {TUNESMITH_TAG_LIST, static_cast<uint32_t>(items.size()), {}};
    value.as.list = of.lists.emplace_back(std::move(items)).data();
  }
  return value;
}

void describe_instructions(tunesmith_trace& of, const std::vector<SourceLocation>& places,
                           const TextWithPrologue& text) {
  for (size_t i = 0; i < of.trace.size(); ++i) {
    const Instruction& instruction = of.trace[i];
    std::vector<tunesmith_value> arguments;
    for (const Arg& arg : instruction.args) arguments.push_back(argument_value(of, arg));
    const std::vector<tunesmith_value>& kept = of.lists.emplace_back(std::move(arguments));
    of.instructions.push_back(
        {reinterpret_cast<const tunesmith_kind*>(instruction.kind), api::text(instruction.kind->name()),
         kept.data(), kept.size(), text.offset(places[i]).value_or(0),
         static_cast<uint32_t>(instruction.outputs.size()), instruction.decision.has_value() ? 1U : 0U});
  }
}

tunesmith_error* read_trace(const tunesmith_options* options, tunesmith_text name, tunesmith_text prologue,
                            tunesmith_trace** trace) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "trace.read";
    const Options& from = *given(options, kCall).options;
    tunesmith_trace*& out = given(trace, kCall);
    const TextWithPrologue text(from.get_string(view(name)), view(prologue));
    auto made = std::make_unique<tunesmith_trace>();
    std::vector<SourceLocation> places;
    try {
      made->trace = Trace::parse(text.str(), "", &places);
    } catch (const UserError& error) {
      fail_there(from, view(name), text, error);
    }
    describe_instructions(*made, places, text);
    out = made.release();
  });
}

tunesmith_error* instructions(const tunesmith_trace* trace, tunesmith_span* instructions) noexcept {
  return guarded([&] {
    given(instructions, "trace.instructions") = span_of(given(trace, "trace.instructions").instructions);
  });
}

void release_trace(tunesmith_trace* trace) noexcept { delete trace; }

}  // namespace

const tunesmith_trace_table k_trace_table = {sizeof(tunesmith_trace_table), read_trace, instructions,
                                             release_trace};

}  // namespace tunesmith::api
