#include "report/decision_names.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tunesmith::report {
namespace {

constexpr std::string_view kPlace = "sample_compute_location";

/// The instruction that defines a variable, and the index among its results.
struct Origin {
  size_t position = 0;
  size_t output = 0;
};

class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace) {
    for (size_t i = 0; i < trace.size(); ++i) {
      for (size_t k = 0; k < trace[i].outputs.size(); ++k) {
        const uint32_t index = trace[i].outputs[k].index;
        if (origins_.size() <= index) origins_.resize(index + 1);
        origins_[index] = Origin{i, k};
      }
    }
  }

  /// "C", "loop 2 of C", "loop 2 of C, piece 1".
  std::string of(const Arg& arg) const {
    if (const auto* text = std::get_if<std::string>(&arg)) return *text;
    const auto* var = std::get_if<TraceVar>(&arg);
    if (var == nullptr || var->index >= origins_.size() || !origins_[var->index]) return "the program";
    const auto [position, output] = *origins_[var->index];
    const Instruction& maker = trace_[position];
    const std::string& kind = maker.kind->name();
    const std::string first = maker.args.empty() ? "" : of(maker.args.front());
    if (kind == "get_block") return first;
    if (kind == "get_loops") return fmt::format("loop {} of {}", output + 1, first);
    if (kind == "split" || kind == "loop_partition") return fmt::format("{}, piece {}", first, output + 1);
    if (kind == "fuse" || kind == "merge") return "fused " + of_first(maker.args.front());
    if (kind == kPlace) return fmt::format("the place of {}", first);
    return fmt::format("{} of {}", kind, first);
  }

  /// The purpose of a sampling instruction: its subject, or the first use of its result.
  std::string purpose(size_t position) const {
    const Instruction& sampling = trace_[position];
    if (sampling.kind->name() == kPlace) return fmt::format("place of {}", of(sampling.args.front()));
    if (!sampling.args.empty() && std::holds_alternative<TraceVar>(sampling.args.front()))
      return of(sampling.args.front());
    for (size_t i = position + 1; i < trace_.size(); ++i) {
      const Instruction& user = trace_[i];
      if (!std::ranges::any_of(user.args, [&](const Arg& arg) { return uses(arg, sampling); })) continue;
      // annotate(what, "key", value)
      if (user.kind->name() == "annotate" && user.args.size() > 1)
        return fmt::format("{} of {}", of(user.args[1]), of_annotated(user.args[0]));
      return user.args.empty() ? user.kind->name()
                               : fmt::format("{} of {}", user.kind->name(), of(user.args[0]));
    }
    return sampling.kind->name();
  }

 private:
  std::string of_first(const Arg& list) const {
    const auto* items = std::get_if<ArgList>(&list);
    return items == nullptr || items->empty() ? "loops" : of(items->front());
  }
  /// Like of(), but also for the root block, which a trace names by a string.
  std::string of_annotated(const Arg& arg) const {
    return std::holds_alternative<TraceVar>(arg) ? of(arg) : "the program";
  }
  static bool uses(const Arg& arg, const Instruction& maker) {
    if (const auto* var = std::get_if<TraceVar>(&arg))
      return std::ranges::find(maker.outputs, *var) != maker.outputs.end();
    const auto* items = std::get_if<ArgList>(&arg);
    return items != nullptr &&
           std::ranges::any_of(*items, [&](const Arg& item) { return uses(item, maker); });
  }

  const Trace& trace_;
  std::vector<std::optional<Origin>> origins_;
};

/// The values that sample_categorical(values, weights) chooses from; null for other instructions.
const ArgList* categories(const Instruction& sampling) {
  return sampling.kind->name() == "sample_categorical" ? std::get_if<ArgList>(&sampling.args.front())
                                                       : nullptr;
}

}  // namespace

std::vector<DecidedNumber> decided_numbers(const Trace& trace) {
  const Names names(trace);
  std::vector<DecidedNumber> numbers;
  for (const size_t position : trace.sampling()) {
    const Instruction& sampling = trace[position];
    if (!sampling.decision) continue;
    const std::string purpose = names.purpose(position);
    const size_t parts = sampling.decision->size();
    for (size_t part = 0; part < parts; ++part) {
      numbers.push_back(
          {position, part,
           parts == 1 ? purpose : fmt::format("{}: factor {} of {}", purpose, part + 1, parts)});
    }
  }
  return numbers;
}

int64_t value_of(const Trace& trace, const DecidedNumber& number) {
  return (*trace[number.position].decision)[number.part];
}

std::string value_text(const Trace& trace, const DecidedNumber& number) {
  const int64_t value = value_of(trace, number);
  if (const ArgList* values = categories(trace[number.position])) {
    const auto index = static_cast<size_t>(value);
    if (index < values->size()) {
      if (const auto* integer = std::get_if<int64_t>(&(*values)[index])) return fmt::format("{}", *integer);
      if (const auto* text = std::get_if<std::string>(&(*values)[index])) return *text;
    }
  }
  if (trace[number.position].kind->name() == kPlace) {
    if (value == -1) return "at the root";
    if (value == -2) return "inlined";
    return fmt::format("under loop {}", value + 1);
  }
  return fmt::format("{}", value);
}

}  // namespace tunesmith::report
