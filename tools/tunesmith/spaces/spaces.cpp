#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "plain_report.h"
#include "traces.h"
#include "tunesmith/evaluation/space_shares.h"

namespace tunesmith::cli {
namespace {

const char* status_name(ModuleResult::Status status) {
  switch (status) {
    case ModuleResult::Status::Applied:
      return "applied";
    case ModuleResult::Status::NotApplicable:
      return "declined";
    case ModuleResult::Status::Broken:
      return "broken";
  }
  return "";
}

/// For example "sample_perfect_tile [8, 4, 2, 8]  sample_categorical [2]".
std::string decisions_text(const Trace& trace) {
  std::string text;
  for (const size_t position : trace.sampling()) {
    const Instruction& instruction = trace[position];
    text += fmt::format("{}{} [{}]", text.empty() ? "" : "  ", instruction.kind->name(),
                        fmt::join(*instruction.decision, ", "));
  }
  return text;
}

std::vector<std::string> refusals_of(const Space& space) {
  std::vector<std::string> refusals;
  for (const RefusedIntrinsic& refused : space.refused_intrinsics()) refusals.push_back(refused.str());
  return refusals;
}

}  // namespace

int run_spaces_show(const Common& common, const SpacesArguments& arguments) {
  const Workload workload = find_workload(arguments.workload, "");
  Session session(common);
  const auto space = session.space(TargetPresence::NotRequired);
  const SketchSet set = space->generate(workload.program);
  if (common.json) {
    nlohmann::json sketches = nlohmann::json::array();
    for (const Schedule& sketch : set.sketches)
      sketches.push_back(sketch.trace().with_open_decisions().str());
    print_json({{"workload", workload.key}, {"space", space->spec().name}, {"sketches", sketches}});
    return kDone;
  }
  fmt::print(output(), "{} in space '{}': {} sketches\n", workload.key, space->spec().name,
             set.sketches.size());
  for (size_t i = 0; i < set.sketches.size(); ++i) {
    fmt::print(output(), "\nsketch {}\n{}", i, set.sketches[i].trace().with_open_decisions().str());
  }
  return kDone;
}

int run_spaces_sample(const Common& common, const SpacesArguments& arguments) {
  const Workload workload = find_workload(arguments.workload, "");
  Session session(common);
  const auto space = session.space(TargetPresence::NotRequired);
  const SketchSet set = space->generate(workload.program);
  nlohmann::json samples = nlohmann::json::array();
  for (int i = 0; i < arguments.count; ++i) {
    RandomStream random(arguments.seed, static_cast<uint64_t>(i));
    const size_t sketch = random.below(set.sketches.size());
    const auto candidate =
        space->materialise(workload.program, set.sketches[sketch].trace().with_open_decisions(), random);
    const std::string text =
        candidate ? decisions_text((*candidate)->trace) : "refused: " + candidate.error().message;
    samples.push_back({{"sketch", sketch}, {"decisions", text}});
    if (!common.json) fmt::print(output(), "{}: {}\n", sketch, text);
  }
  if (common.json) print_json({{"workload", workload.key}, {"samples", samples}});
  return kDone;
}

namespace {

nlohmann::json explanation_json(const Workload& workload, const SketchSet& set, const SpaceShares& shares,
                                const std::vector<PlainBlock>& plain,
                                const std::vector<std::string>& finishing, const Space& space) {
  nlohmann::json events = nlohmann::json::array();
  for (const ModuleEvent& event : set.events) {
    events.push_back({{"module", event.module},
                      {"block", event.block},
                      {"status", status_name(event.status)},
                      {"reason", event.reason},
                      {"forks", event.forks},
                      {"count", event.count}});
  }
  nlohmann::json parts = nlohmann::json::array();
  for (const ModuleShare& share : shares.modules) {
    parts.push_back({{"module", share.module}, {"points", share.points}, {"choices", share.choices}});
  }
  return {{"workload", workload.key}, {"sketches", set.sketches.size()},
          {"points", shares.points},  {"events", events},
          {"shares", parts},          {"plain_blocks", plain_json(plain)},
          {"finishing", finishing},   {"refused", refusals_of(space)}};
}

/// A result at a block, and the modules that had it.
struct ExplainedLine {
  std::string what;
  std::vector<std::string> modules;
};

std::string text_of_event(const ModuleEvent& event) {
  std::string what = event.reason;
  if (event.status == ModuleResult::Status::Applied)
    what = fmt::format("{} schedule{}{}{}", event.forks, event.forks == 1 ? "" : "s",
                       event.reason.empty() ? "" : "; ", event.reason);
  return fmt::format("{:<9} {}{}", status_name(event.status), what,
                     event.count > 1 ? fmt::format("  ({} times)", event.count) : "");
}

/// Merges consecutive modules with equal results into one line.
std::vector<ExplainedLine> lines_of_block(const SketchSet& set, const std::string& block) {
  std::vector<ExplainedLine> lines;
  for (const ModuleEvent& event : set.events) {
    if (event.block != block) continue;
    const std::string what = text_of_event(event);
    if (lines.empty() || lines.back().what != what) lines.push_back({what, {}});
    lines.back().modules.push_back(event.module);
  }
  return lines;
}

std::string text_of_lines(const std::vector<ExplainedLine>& lines) {
  std::string text;
  for (const ExplainedLine& line : lines) {
    text += fmt::format(
        "  {:<28} {}\n",
        line.modules.size() == 1 ? line.modules.front() : fmt::format("{} modules", line.modules.size()),
        line.what);
    if (line.modules.size() > 1) text += fmt::format("    {}\n", fmt::join(line.modules, ", "));
  }
  return text;
}

/// Prints the modules' results at each block, in order; merges blocks with equal results.
void print_events(const SketchSet& set) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;  // text, and its blocks
  std::set<std::string> met;
  for (const ModuleEvent& event : set.events) {
    if (!met.insert(event.block).second) continue;
    const std::string text = text_of_lines(lines_of_block(set, event.block));
    auto place = std::ranges::find(said, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (place == said.end()) place = said.insert(said.end(), {text, {}});
    place->second.push_back(event.block);
  }
  for (const auto& [text, blocks] : said) {
    const std::string& first = blocks.front();
    std::string heading = first.empty() ? "the program" : fmt::format("block {}", first);
    if (blocks.size() > 1)
      heading = fmt::format("{} similar blocks: {}", blocks.size(), fmt::join(blocks, ", "));
    fmt::print(output(), "\n{}\n{}", heading, text);
  }
}

}  // namespace

int run_spaces_explain(const Common& common, const SpacesArguments& arguments) {
  const Workload workload = find_workload(arguments.workload, "");
  Session session(common);
  const auto space = session.space(TargetPresence::NotRequired);
  const SketchSet set = space->generate(workload.program);
  const SpaceShares shares = shares_of(set);
  const std::vector<PlainBlock> plain = plain_blocks(*space, workload.program, set);
  std::vector<std::string> finishing;
  for (const PluginUse& use : space->spec().modules) {
    if (std::ranges::none_of(shares.modules,
                             [&](const ModuleShare& share) { return share.module == use.id; }))
      finishing.push_back(use.id);
  }
  if (common.json) {
    print_json(explanation_json(workload, set, shares, plain, finishing, *space));
    return kDone;
  }
  fmt::print(output(), "{} in space '{}': {} sketch{}, {:.3g} points\n", workload.key, space->spec().name,
             set.sketches.size(), set.sketches.size() == 1 ? "" : "es", shares.points);
  print_events(set);
  if (!plain.empty()) fmt::print(output(), "\nleft plain\n");
  for (const PlainBlock& block : plain) fmt::print(output(), "{}\n", plain_text(block, set.sketches.size()));
  if (!finishing.empty()) {
    fmt::print(output(), "\nfinishing modules of every candidate\n  {}\n", fmt::join(finishing, "\n  "));
  }
  fmt::print(output(), "\n{:<30} {:>9} {:>9}\n", "share of the space", "points", "choices");
  for (const ModuleShare& share : shares.modules) {
    fmt::print(output(), "  {:<28} {:>7.1f} % {:>7.1f} %\n", share.module, 1e2 * share.points,
               1e2 * share.choices);
  }
  return kDone;
}

}  // namespace tunesmith::cli
