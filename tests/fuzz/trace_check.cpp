#include "trace_check.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <tunesmith/analysis/verify.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/lower/lower.h>
#include <tunesmith/target/extension_file.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/verification/interpreter.h>

#include "reads_back.h"

namespace tunesmith::fuzz {
namespace {

/// Relative to the largest element, for reals: far above the rounding of small sums in f64, and far below the
/// effect of one wrong element.
constexpr double kTolerance = 1e-9;

double largest(const Tensor& tensor) {
  double result = 1;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (std::isfinite(tensor.get(i))) result = std::max(result, std::abs(tensor.get(i)));
  }
  return result;
}

std::string text_of(const Program& program) { return to_string(program); }
std::string text_of(const LoweredProgram& lowered) {
  return (lowered.prepare ? to_string(lowered.prepare->program) : "") + to_string(lowered.program);
}

/// Runs a Program or LoweredProgram on `arguments`; "" if it computes `expected`.
template <typename Runnable>
std::string differs(const std::vector<Tensor>& expected, std::vector<Tensor> arguments,
                    const Runnable& program, Numbers numbers) {
  interpret(program, arguments);
  const std::string wrong = difference(expected, arguments, numbers);
  return wrong.empty() ? "" : wrong + "\n" + text_of(program);
}

void for_each_var(const Arg& arg, const auto& visit) {
  if (const auto* var = std::get_if<TraceVar>(&arg)) visit(*var);
  if (const auto* list = std::get_if<ArgList>(&arg)) {
    for (const Arg& item : *list) for_each_var(item, visit);
  }
}

Arg renumber(const Arg& arg, const std::vector<std::optional<uint32_t>>& numbers) {
  if (const auto* var = std::get_if<TraceVar>(&arg)) return TraceVar{*numbers[var->index]};
  const auto* list = std::get_if<ArgList>(&arg);
  if (list == nullptr) return arg;
  ArgList result;
  for (const Arg& item : *list) result.push_back(renumber(item, numbers));
  return result;
}

/// The trace without the instructions from `position` to `position + count` and those that need their
/// results.
Trace without(const Trace& trace, size_t position, size_t count) {
  Trace result;
  std::vector<std::optional<uint32_t>> numbers;
  uint32_t next = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    auto instruction = std::make_shared<Instruction>(trace[i]);
    bool kept = i < position || i >= position + count;
    for (const Arg& arg : instruction->args) {
      for_each_var(arg, [&](TraceVar var) { kept = kept && numbers[var.index].has_value(); });
    }
    for (TraceVar& output : instruction->outputs) {
      numbers.push_back(kept ? std::optional<uint32_t>(next) : std::nullopt);
      output.index = next;
      if (kept) ++next;
    }
    if (!kept) continue;
    for (Arg& arg : instruction->args) arg = renumber(arg, numbers);
    result.append(std::move(instruction));
  }
  return result;
}

}  // namespace

const std::vector<TensorIntrinsicPtr>& test_intrinsics() {
  static const std::vector<TensorIntrinsicPtr> all =
      ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/intrinsics.yaml")->intrinsics();
  return all;
}

std::string difference(const std::vector<Tensor>& expected, const std::vector<Tensor>& given,
                       Numbers numbers) {
  const double tolerance = numbers == Numbers::Exact ? 0 : kTolerance;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == given[i]) continue;
    const double error = max_error(expected[i], given[i]);
    if (!(error <= tolerance * largest(expected[i])))
      return fmt::format("argument {} differs by {}", i, error);
  }
  return "";
}

std::string check_trace(const Program& program, const Trace& trace, Numbers numbers) {
  try {
    const auto schedule = replay(program, trace);
    if (!schedule.has_value()) return "";
    const std::string wrong = verify(schedule->program());
    if (!wrong.empty()) return "not well formed: " + wrong;
    std::string wrong_text = test::reads_back(schedule->program());
    if (!wrong_text.empty()) return wrong_text;
    const std::vector<Tensor> arguments = random_arguments(program, numbers);
    std::vector<Tensor> before = arguments;
    interpret(program, before);
    std::string wrong_result = differs(before, arguments, schedule->program(), numbers);
    if (!wrong_result.empty()) return wrong_result;
    // Also with calls of intrinsics, and with preparation of constant inputs.
    for (const bool all : {false, true}) {
      LowerOptions options;
      if (all) options.intrinsics = test_intrinsics();
      options.prepare = all;
      const LoweredProgram lowered = lower(schedule->program(), options);
      wrong_text = test::reads_back(lowered.program);
      if (!wrong_text.empty()) return "lowered: " + wrong_text;
      wrong_result = differs(before, arguments, lowered, numbers);
      if (!wrong_result.empty()) return "lowered: " + wrong_result;
    }
  } catch (const LowerError&) {
    return "";  // a program that the target refuses is not wrong
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

Trace shrink(const Program& program, Trace failing, const TraceCheck& check) {
  for (size_t count = std::max<size_t>(failing.size() / 2, 1); count > 0; count /= 2) {
    for (size_t i = failing.size(); i-- > 0;) {
      if (i >= failing.size()) continue;
      Trace smaller = without(failing, i, count);
      if (smaller.size() < failing.size() && !check(program, smaller).empty()) failing = std::move(smaller);
    }
  }
  return failing.simplified();
}

}  // namespace tunesmith::fuzz
