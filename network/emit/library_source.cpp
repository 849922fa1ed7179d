#include "library_source.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "extent_texts.h"
#include "library_texts.h"
#include "tunesmith/runtime/c_texts.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

std::string c_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Always three octal digits, so that a following digit is not read as part of the escape. '?' could begin
    // a trigraph.
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

/// `prefix` begins the declaration of a shape's array.
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

/// The shape in the header: "2, batch, 3".
std::string shape_text(const LibraryPlan& plan, const LibraryArgument& argument) {
  std::vector<std::string> names, extents;
  for (const VaryingExtent& extent : plan.varying) names.push_back(c_comment(extent.name));
  for (const ExtentForm& extent : argument.form) extents.push_back(extent.text(names));
  if (argument.form.empty())
    for (const int64_t extent : argument.type.shape) extents.push_back(std::to_string(extent));
  return fmt::format("{}", fmt::join(extents, ", "));
}

std::string argument_lines(const LibraryPlan& plan) {
  std::string text;
  const auto add = [&](const char* kind, const std::vector<LibraryArgument>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      text += fmt::format("\n   {} {}: {} {} [{}]", kind, i, c_comment(arguments[i].name),
                          arguments[i].type.dtype.str(), shape_text(plan, arguments[i]));
    }
  };
  add("input", plan.inputs);
  add("output", plan.outputs);
  return text;
}

/// Lines for the header.
std::string count_lines(const LibraryPlan& plan) {
  std::string text;
  for (const CountedOutput& each : plan.counted)
    text += fmt::format(
        "\n   Of output {}, axis {} has as many elements as output {} says: a call fills the first.",
        each.output, each.axis, each.by);
  return text.empty() ? text : "\n" + text;
}

/// Lines for the header.
std::string extent_lines(const LibraryPlan& plan) {
  std::string text;
  for (const VaryingExtent& extent : plan.varying)
    text +=
        fmt::format("\n   {}: {} to {}", c_comment(extent.name), extent.range.lowest, extent.range.highest);
  if (text.empty()) return text;
  return "\n" + text +
         "\n   A call's values are found in the shapes of its inputs; one that is out of its range, or not "
         "the same in all\n   arguments, is @NAME@_WRONG_SHAPE.";
}

std::string read_extents_text(const LibraryPlan& plan) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < plan.varying.size(); ++i) {
    const auto [input, axis] = place_of_extent(plan.inputs, plan.varying, i);
    ranges.push_back(fmt::format("{{{}, {}, {}, {}}}", plan.varying[i].range.lowest,
                                 plan.varying[i].range.highest, input, axis));
  }
  size_t max_rank = 1;
  std::string forms;
  for (const LibraryArgument& argument : arguments_of(plan)) {
    max_rank = std::max(max_rank, argument.type.shape.size());
    std::vector<std::string> axes;
    for (size_t axis = 0; axis < argument.type.shape.size(); ++axis) {
      if (argument.form.empty())
        axes.push_back(fmt::format("{{{}}}", argument.type.shape[axis]));
      else
        axes.push_back(fmt::format("{{{}, {}}}", argument.form[axis].constant,
                                   fmt::join(argument.form[axis].factors, ", ")));
    }
    forms += fmt::format("  {{{}}},\n", axes.empty() ? "{0}" : fmt::format("{}", fmt::join(axes, ", ")));
  }
  std::string text = replace_all(kReadExtents, "@EXTENT_COUNT@", std::to_string(plan.varying.size()));
  text = replace_all(std::move(text), "@MAX_RANK@", std::to_string(max_rank));
  text = replace_all(std::move(text), "@RANGES@", fmt::format("{}", fmt::join(ranges, ", ")));
  return replace_all(std::move(text), "@FORMS@", forms);
}

/// Adds the texts for varying extents.
std::string with_extents(std::string text, const LibraryPlan& plan) {
  const bool varies = !plan.varying.empty();
  const auto fill = [&](const char* place, const std::string& with) {
    text = replace_all(std::move(text), place, varies ? with : "");
  };
  fill("@READ_EXTENTS@", varies ? read_extents_text(plan) : "");
  fill("@TAKE_EXTENTS@", ", const int64_t* extents");
  fill("@MAKE_SHAPE@", kMakeShape);
  fill("@CALL_READ_EXTENTS@", kCallReadExtents);
  fill("@GIVE_EXTENTS@", ", extents");
  fill("@POINT_TO_EXTENTS@", "    pointers[step->count] = extents;\n");
  return replace_all(std::move(text), "@SHAPE@", varies ? "shape" : "type->shape");
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

/// Declarations, and calls that initialise the process; empty if no kernel needs them.
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
  const bool varies = !plan.varying.empty();
  text = replace_all(std::move(text), "@EXTENTS@", extent_lines(plan) + count_lines(plan));
  text = replace_all(std::move(text), "@HIGHEST@", varies ? ", for the highest extents" : "");
  text = replace_all(std::move(text), "@OUTPUT_SHAPE@", varies ? kOutputShape : "");
  text = replace_all(std::move(text), "@NAME@", plan.name);
  text = replace_all(std::move(text), "@ARGUMENTS@", argument_lines(plan));
  return replace_all(std::move(text), "@PROVENANCE@", c_comment(plan.provenance));
}

std::string library_source(const LibraryPlan& plan, uint64_t hash) {
  const StepTexts steps = step_texts(plan);
  const SetupTexts setup = setup_texts(plan);
  std::string text = replace_all(with_extents(kSource, plan), "@THREADS@", kThreadsText);
  text = replace_all(std::move(text), "@CHECK_FUNCTION@", kCheckText);
  text = replace_all(std::move(text), "@SETUP@", setup.function);
  text = replace_all(std::move(text), "@SET_UP@", setup.first);
  text = replace_all(std::move(text), "@SETUP_FAULTS@", setup.faults);
  text = replace_all(std::move(text), "@NAME@", plan.name);
  text = replace_all(std::move(text), "@ARENA@", std::to_string(plan.arena_bytes));
  text = replace_all(std::move(text), "@WEIGHT_BYTES@", std::to_string(plan.weight_bytes));
  text = replace_all(std::move(text), "@WEIGHT_HASH@", std::to_string(hash));
  text = replace_all(std::move(text), "@MAX_BUFFERS@",
                     std::to_string(steps.max_buffers + (plan.varying.empty() ? 0 : 1)));
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
  if (!plan.varying.empty()) names.emplace_back("output_shape");
  for (std::string& name : names) name = fmt::format("{}_{}", plan.name, name);
  return names;
}

}  // namespace tunesmith::network
