// `tunesmith opt`: reads a program, changes it, and prints it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/analysis/verify.h>
#include <tunesmith/ir/extents.h>
#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "passes.h"
#include "say.h"

namespace tunesmith::cli {
namespace {

constexpr std::string_view kFirstWord = "program ";

/// How to lower programs: by the kernel's pipeline, unless a space is named.
struct Lowering {
  std::unique_ptr<Session> session;  // provides target and spaces for the steps
  std::unique_ptr<Space> space;
  LowerOptions options;
  Pipeline pipeline = standard_pipeline();
  std::shared_ptr<const TensorIntrinsics> intrinsics;
};

/// Takes the pipeline of the space's target, with the steps of its extensions.
void ask_space(Lowering& lowering) {
  const Program program = parse_program(
      "program p(X: f32[64]) -> (O: f32[64])\n"
      "  for i in 0..64:\n"
      "    block O(v: spatial 64 = i):\n"
      "      O[v] = X[v]\n");
  std::vector<LoweringStep> steps;
  const auto candidate = lowering.space->materialise(
      program, Trace(), RandomStream(0), [&](const LoweringStep& step, const LoweringState& state) {
        steps.push_back(step);
        lowering.options = state.options;
      });
  if (!candidate) {
    throw EnvironmentError(fmt::format("space '{}' cannot lower a trivial program: {}",
                                       lowering.space->spec().name, candidate.error().message));
  }
  lowering.pipeline = Pipeline(std::move(steps));
  lowering.intrinsics = lowering.space->intrinsics();
}

Lowering lowering_of(const Common& common, const OptArguments& arguments) {
  Lowering lowering;
  lowering.options.parameters = true;
  if (!common.space.empty()) {
    lowering.session = std::make_unique<Session>(common);
    lowering.space = lowering.session->space(TargetPresence::NotRequired);
    ask_space(lowering);
  }
  if (arguments.vector_bits > 0) lowering.options.vector_bits = arguments.vector_bits;
  return lowering;
}

std::string read_text(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  if (std::filesystem::is_directory(file))
    throw UserError(SourceLocation{file}, "is a folder, not a program");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(SourceLocation{file}, "the file cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Drops everything before the first program, such as the trace that `trace show` prints; line numbers stay
/// correct.
std::string programs_in(std::string text) {
  const size_t begin = text.starts_with(kFirstWord) ? 0 : text.find(fmt::format("\n{}", kFirstWord));
  for (size_t at = 0; begin != std::string::npos && at < begin; ++at) {
    if (text[at] != '\n') text[at] = ' ';
  }
  return text;
}

/// Reads a file of programs or a workload's definition, or takes a workload's name with parameters.
std::vector<Program> read_programs(const std::string& file) {
  std::vector<Program> programs;
  if (file != "-" && !std::filesystem::exists(file)) {
    if (file.find_first_of("./") != std::string::npos && file.find(".yaml") == std::string::npos)
      throw UserError(SourceLocation{file}, "there is no such file");
    programs.push_back(WorkloadLibrary().load(file).program.clone());
    return programs;
  }
  const std::string name = file == "-" ? "<stdin>" : file;
  const std::string text = read_text(file);
  const bool defines = !text.starts_with(kFirstWord) &&
                       text.find(fmt::format("\n{}", kFirstWord)) == std::string::npos &&
                       text.find("\ncompute:") != std::string::npos;
  if (!defines) return parse_programs(programs_in(text), name);
  programs.push_back(std::move(WorkloadDefinition::parse(text, name).instantiate().program));
  return programs;
}

int list_passes(const Common& common, const Pipeline& pipeline) {
  nlohmann::json all = nlohmann::json::array();
  for (const ProgramPass& pass : program_passes(pipeline)) {
    if (common.json) {
      all.push_back({{"name", pass.name}, {"help", pass.help}});
    } else {
      fmt::print(output(), "{:<22}{}\n", pass.name, pass.help.empty() ? "of the target" : pass.help);
    }
  }
  if (common.json) print_json(all);
  return kDone;
}

/// Compares the programs at these values of their parameters.
template <typename Runnable>
std::string difference_at(const Program& before, const Runnable& after, const std::vector<int64_t>& values) {
  std::vector<Tensor> expected;
  for (const Buffer& buffer : before.inputs) {
    expected.push_back(Tensor::like(*buffer));
    expected.back().fill_random(expected.size());
  }
  for (const Buffer& buffer : before.outputs) expected.push_back(Tensor::like(*buffer));
  std::vector<Tensor> given = expected;
  InterpretOptions options;
  options.parameters = values;
  interpret(before, expected, options);
  interpret(after, given, options);
  for (size_t i = 0; i < expected.size(); ++i) {
    double largest = 1;
    for (int64_t at = 0; at < expected[i].elements(); ++at) {
      const double value = std::abs(expected[i].get(at));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    const double error = max_error(expected[i], given[i]);
    if (!(error <= 1024 * unit_roundoff(expected[i].dtype) * largest))
      return fmt::format("output {} differs by {}", before.outputs[i - before.inputs.size()]->name, error);
  }
  return "";
}

/// What --check finds wrong with the program after; "" if nothing. It must compute the same as the program
/// before, up to rounding, at both ends of each range and at typical values.
template <typename Runnable>
std::string difference(const Program& before, const Runnable& after) {
  std::vector<std::vector<int64_t>> each = typical_values(before);
  each.push_back(highest_values(before));
  each.emplace_back();
  for (const ExtentParameter& parameter : before.parameters) each.back().push_back(parameter.var->lowest);
  for (const std::vector<int64_t>& values : each) {
    std::string wrong = difference_at(before, after, values);
    if (!wrong.empty() && !values.empty()) wrong += fmt::format(" at [{}]", fmt::join(values, ", "));
    if (!wrong.empty() || values.empty()) return wrong;
  }
  return "";
}

/// "" if the program after is well formed and computes the same, before and after lowering.
std::string fault_of(const Program& before, const PassRunner& after, bool scheduled,
                     const Lowering& lowering) {
  try {
    if (!scheduled) return difference(before, after.lowered());
    const Program& program = after.lowered().program;
    std::string wrong = verify(program);
    if (!wrong.empty()) return "not well formed: " + wrong;
    wrong = difference(before, program);
    if (!wrong.empty()) return wrong;
    wrong = difference(before, lower(program, lowering.options, lowering.pipeline));
    return wrong.empty() ? "" : "lowered, " + wrong;
  } catch (const InterpreterError& error) {
    return error.what();
  } catch (const LowerError&) {
    return "";  // the target may refuse the program
  }
}

Program apply(const Program& program, const std::vector<std::string>& instructions,
              const Lowering& lowering) {
  std::vector<SourceLocation> places;
  const Trace trace = Trace::parse(fmt::format("{}", fmt::join(instructions, "\n")), "--apply", &places);
  const std::string wrong = verify(program);
  if (!wrong.empty())
    throw UserError("the program is not well-formed, so no instruction can be applied: " + wrong);
  size_t refused_at = 0;
  auto schedule = replay(program, trace, RandomStream(0), &refused_at, lowering.intrinsics);
  if (!schedule) throw UserError(places.at(refused_at), schedule.error().what());
  return schedule->program().clone();
}

struct Changed {
  std::string text;
  std::string fault;  // found by --check
};

Changed change(const Program& before, const OptArguments& arguments, const Lowering& lowering) {
  const bool lowers = arguments.lower || !arguments.until.empty() || !arguments.passes.empty();
  const Program scheduled =
      arguments.apply.empty() ? before.clone() : apply(before, arguments.apply, lowering);
  PassRunner runner(scheduled, lowering.options, lowering.pipeline);
  if (arguments.lower) runner.run_until(lowering.pipeline.steps().back().name);
  if (!arguments.until.empty()) runner.run_until(arguments.until);
  for (const std::string& pass : arguments.passes) runner.run(pass);
  const bool blocks = !lowers && !before.blocks().empty();
  return {text_of(runner.lowered()), arguments.check ? fault_of(before, runner, blocks, lowering) : ""};
}

}  // namespace

int run_opt(const Common& common, const OptArguments& arguments) {
  const Lowering lowering = lowering_of(common, arguments);
  if (arguments.list) return list_passes(common, lowering.pipeline);
  if (arguments.file.empty())
    throw UserError("no program given", "give a file, a workload, or - for standard input");
  std::vector<std::string> texts;
  std::vector<std::string> faults;
  for (const Program& program : read_programs(arguments.file)) {
    Changed changed = change(program, arguments, lowering);
    texts.push_back(std::move(changed.text));
    if (!changed.fault.empty()) faults.push_back(std::move(changed.fault));
  }
  if (common.json) {
    print_json({{"programs", texts}, {"faults", faults}});
  } else {
    fmt::print(output(), "{}", fmt::join(texts, "\n"));
  }
  for (const std::string& fault : faults) say("--check: " + fault);
  return faults.empty() ? kDone : kWrong;
}

}  // namespace tunesmith::cli
