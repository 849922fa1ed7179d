#include "library_source.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "library_texts.h"
#include "tunesmith/runtime/c_texts.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

std::string c_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Octal, of three digits always: a digit that follows is not taken for a part of it. '?' may begin a
    // trigraph.
    result += byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '?' ? fmt::format("\\{:03o}", byte)
                                                                               : std::string(1, c);
  }
  return result + "\"";
}

std::vector<LibraryArgument> arguments_of(const LibraryPlan& plan) {
  std::vector<LibraryArgument> all = plan.inputs;
  all.insert(all.end(), plan.outputs.begin(), plan.outputs.end());
  return all;
}

/// `prefix`: of what a shape's array is declared as.
std::string shapes_text(const LibraryPlan& plan, const char* prefix) {
  const std::vector<LibraryArgument> arguments = arguments_of(plan);
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = arguments[i].type.shape;
    text += fmt::format("{} shape{}[] = {{{}}};\n", prefix, i,
                        shape.empty() ? "0" : fmt::format("{}", fmt::join(shape, ", ")));
  }
  return text;
}

std::string argument_types(const LibraryPlan& plan, bool named) {
  const std::vector<LibraryArgument> arguments = arguments_of(plan);
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorType& type = arguments[i].type;
    text += fmt::format("  {{{}{}, shape{}, {}, {}}},\n", named ? c_string(arguments[i].name) + ", " : "",
                        type.shape.size(), i, dlpack_code(type.dtype),
                        type.dtype.is_bool() ? 8 : type.dtype.bits);
  }
  return text;
}

std::string argument_lines(const LibraryPlan& plan) {
  std::string text;
  const auto add = [&](const char* kind, const std::vector<LibraryArgument>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      text += fmt::format("\n   {} {}: {} {} [{}]", kind, i, c_comment(arguments[i].name),
                          arguments[i].type.dtype.str(), fmt::join(arguments[i].type.shape, ", "));
    }
  };
  add("input", plan.inputs);
  add("output", plan.outputs);
  return text;
}

const char* place_name(BufferPlace::Kind kind) {
  switch (kind) {
    case BufferPlace::Kind::Input:
      return "kInput";
    case BufferPlace::Kind::Output:
      return "kOutput";
    case BufferPlace::Kind::Arena:
      return "kArena";
    case BufferPlace::Kind::Weights:
      break;
  }
  return "kWeights";
}

struct StepTexts {
  std::string kernels, buffers, steps;
  size_t max_buffers = 1;
};

StepTexts step_texts(const LibraryPlan& plan) {
  StepTexts texts;
  std::set<std::string> declared;
  size_t first = 0;
  for (const LibraryStep& step : plan.steps) {
    if (declared.insert(step.kernel->symbol).second) {
      texts.kernels += fmt::format(
          "extern void {}(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* "
          "pool);\n",
          step.kernel->symbol);
    }
    for (const BufferPlace& buffer : step.buffers)
      texts.buffers += fmt::format("  {{{}, {}, {}, {}, {}}},\n", place_name(buffer.kind), buffer.at,
                                   buffer.begin, buffer.advance, buffer.period);
    texts.steps +=
        fmt::format("  {{{}, &buffers_of_steps[{}], {}, {}, {}, {}, {}}},\n", step.kernel->symbol, first,
                    step.buffers.size(), step.workspace, step.back_to, step.trips, c_string(step.name));
    first += step.buffers.size();
    texts.max_buffers = std::max(texts.max_buffers, step.buffers.size());
  }
  return texts;
}

/// Declarations, and the calls that make the process ready; empty where no kernel asks for it.
struct SetupTexts {
  std::string function, first, faults;
};

SetupTexts setup_texts(const LibraryPlan& plan) {
  std::set<std::string> symbols, faults;
  for (const LibraryStep& step : plan.steps) {
    if (!step.kernel->setup) continue;
    symbols.insert(step.kernel->setup->symbol);
    faults.insert(step.kernel->setup->fault);
  }
  if (symbols.empty()) return {};
  SetupTexts texts;
  std::vector<std::string> calls;
  for (const std::string& symbol : symbols) {
    texts.function += fmt::format("extern int64_t {}(void);\n", symbol);
    calls.push_back(fmt::format("{}() == 0", symbol));
  }
  for (const std::string& fault : faults) {
    texts.function += fmt::format("extern _Atomic int64_t {};\n", fault);
    texts.faults += fmt::format("  if (atomic_load(&{}) != 0) return @NAME@_SETUP_FAILED;\n", fault);
  }
  texts.function += replace_all(kSetUpText, "@SETUP_CALLS@", fmt::format("{}", fmt::join(calls, " && ")));
  texts.first = kSetUpFirst;
  return texts;
}

}  // namespace

std::string library_header(const LibraryPlan& plan) {
  std::string text = replace_all(kHeader, "@TENSOR_TYPES@", kTensorTypesText);
  text = replace_all(std::move(text), "@INPUTS@", std::to_string(plan.inputs.size()));
  text = replace_all(std::move(text), "@OUTPUTS@", std::to_string(plan.outputs.size()));
  text = replace_all(std::move(text), "@NAME@", plan.name);
  text = replace_all(std::move(text), "@ARGUMENTS@", argument_lines(plan));
  return replace_all(std::move(text), "@PROVENANCE@", c_comment(plan.provenance));
}

std::string library_source(const LibraryPlan& plan, uint64_t hash) {
  const StepTexts steps = step_texts(plan);
  const SetupTexts setup = setup_texts(plan);
  std::string text = replace_all(kSource, "@THREADS@", kThreadsText);
  text = replace_all(std::move(text), "@CHECK_FUNCTION@", kCheckText);
  text = replace_all(std::move(text), "@SETUP@", setup.function);
  text = replace_all(std::move(text), "@SET_UP@", setup.first);
  text = replace_all(std::move(text), "@SETUP_FAULTS@", setup.faults);
  text = replace_all(std::move(text), "@NAME@", plan.name);
  text = replace_all(std::move(text), "@ARENA@", std::to_string(plan.arena_bytes));
  text = replace_all(std::move(text), "@WEIGHT_BYTES@", std::to_string(plan.weight_bytes));
  text = replace_all(std::move(text), "@WEIGHT_HASH@", std::to_string(hash));
  text = replace_all(std::move(text), "@MAX_BUFFERS@", std::to_string(steps.max_buffers));
  text = replace_all(std::move(text), "@STEP_COUNT@", std::to_string(plan.steps.size()));
  text = replace_all(std::move(text), "@KERNELS@", steps.kernels);
  text = replace_all(std::move(text), "@BUFFERS@", steps.buffers);
  text = replace_all(std::move(text), "@SHAPES@", shapes_text(plan, "static const int64_t"));
  text = replace_all(std::move(text), "@ARGUMENT_TYPES@", argument_types(plan, false));
  return replace_all(std::move(text), "@STEPS@", steps.steps);
}

std::string main_program(const LibraryPlan& plan) {
  std::string text = replace_all(kMain, "@NAME@", plan.name);
  text = replace_all(std::move(text), "@SHAPES@", shapes_text(plan, "static int64_t"));
  return replace_all(std::move(text), "@ARGUMENT_TYPES@", argument_types(plan, true));
}

std::vector<std::string> exported_functions(const LibraryPlan& plan) {
  std::vector<std::string> names = {"open",         "close",           "check_weights",    "run",
                                    "run_observed", "workspace_bytes", "set_parallel_for", "steps",
                                    "step_name"};
  for (std::string& name : names) name = fmt::format("{}_{}", plan.name, name);
  return names;
}

}  // namespace tunesmith::network
