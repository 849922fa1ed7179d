#include "model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>
#include <tunesmith/support/files.h>

namespace tunesmith::cli {
namespace {

double speed_of(const nlohmann::json& program) {
  const nlohmann::json& seconds = program.at("seconds");
  return seconds.is_null() ? program.at("score").get<double>() : -std::log(seconds.get<double>());
}

std::vector<SequenceStep> steps_from(const nlohmann::json& program, const nlohmann::json& choices) {
  std::vector<SequenceStep> steps;
  for (const nlohmann::json& written : program.at("steps")) {
    SequenceStep step;
    step.instruction = written.at(0).get<size_t>();
    step.element = written.at(1).get<size_t>();
    const nlohmann::json& of = choices.at(written.at(2).get<size_t>());
    step.choices = of.at("choices").get<std::vector<int64_t>>();
    if (of.contains("values")) step.values = of.at("values").get<std::vector<int64_t>>();
    step.chosen = step.choices.at(written.at(3).get<size_t>());
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

ReadShard read_shard(const std::string& file, const std::function<void(const nlohmann::json&)>& task) {
  std::ifstream stream = open_lines(file);
  ReadShard shard;
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    const SourceLocation place{file, number, 0};
    try {
      const nlohmann::json line = nlohmann::json::parse(text);
      if (number > 1) {
        task(line);
        shard.programs += static_cast<int64_t>(line.at("programs").size());
        continue;
      }
      if (line.value("format", "") != "tunesmith prior shard" ||
          line.value("sequence", 0) != kSequenceVersion)
        throw UserError(place, fmt::format("not a shard of sequences of version {}", kSequenceVersion),
                        "create one with: tunesmith prior collect");
      shard.space = line.at("space").get<std::string>();
      shard.part = line.at("part").get<std::string>();
      shard.machine = machine_text(line.at("machine").get<std::map<std::string, double>>());
    } catch (const nlohmann::json::exception& error) {
      throw UserError(place, fmt::format("damaged line: {}", error.what()),
                      "'prior collect' with the same options continues after its last complete line");
    }
  }
  if (shard.space.empty()) throw UserError(SourceLocation{file}, "the file is empty");
  return shard;
}

std::vector<const nlohmann::json*> programs_by_speed(const nlohmann::json& task) {
  std::vector<const nlohmann::json*> programs;
  for (const nlohmann::json& program : task.at("programs")) programs.push_back(&program);
  std::ranges::stable_sort(
      programs, [](const nlohmann::json* a, const nlohmann::json* b) { return speed_of(*a) > speed_of(*b); });
  return programs;
}

PriorExample example_of(const nlohmann::json& task, double share) {
  PriorExample example;
  example.task = parse_sequence(fmt::format("# tunesmith sequence {}\n{}sketch\ndecisions\n",
                                            kSequenceVersion, task.at("task").get<std::string>()))
                     .task;
  for (const nlohmann::json& sketch : task.at("sketches"))
    example.sketches.push_back(Trace::parse(sketch.get<std::string>()));
  std::vector<const nlohmann::json*> programs = programs_by_speed(task);
  const auto wanted = static_cast<size_t>(std::ceil(share * static_cast<double>(programs.size())));
  programs.resize(std::min(programs.size(), std::max<size_t>(2, wanted)));
  for (const nlohmann::json* program : programs)
    example.programs.push_back(
        {program->at("sketch").get<size_t>(), steps_from(*program, task.at("choices"))});
  return example;
}

}  // namespace tunesmith::cli
