// `spaces lint`: reports all errors of a spaces file at once, and the parts of its spaces.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/space/check_space.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

SpacesFile load_with_faults(const Common& common, const SpacesArguments& arguments,
                            std::vector<SpaceFault>& faults) {
  Common linted = common;
  if (!arguments.file.empty()) {
    if (!common.spaces_file.empty() && common.spaces_file != arguments.file)
      throw UserError(fmt::format("cannot check two spaces files at once: '{}' and '{}'", arguments.file,
                                  common.spaces_file),
                      "check them separately");
    linted.spaces_file = arguments.file;
  }
  std::vector<UserError> errors;
  SpacesFile spaces = SpacesFile::load(find_spaces_file(linted), errors);
  for (const UserError& error : errors) faults.push_back({error.what()});
  return spaces;
}

/// Finds what check_space() cannot: instructions that the compiler refuses, contradictory descriptions.
void compose(const SpaceSpec& spec, PluginRegistry& registry, std::vector<SpaceFault>& faults) {
  try {
    const Space composed(spec, registry);
    for (const RefusedIntrinsic& refused : composed.refused_intrinsics()) faults.push_back({refused.str()});
  } catch (const UserError& error) {
    faults.push_back({error.what()});
  } catch (const EnvironmentError& error) {
    faults.push_back({error.what(), true});
  }
}

void print_stages(const SpaceCheck& check) {
  for (const CheckedModule& module : check.modules) {
    std::string line = fmt::format("  {:<9}  {}", stage_name(module.stage), module.id);
    if (!module.written.empty()) line += "  " + module.written;
    if (!module.brought_by.empty()) line += fmt::format("  (brought by {})", module.brought_by);
    fmt::print(output(), "{}\n", line);
  }
}

nlohmann::json to_json(const std::string& name, const SpaceCheck& check, bool composes) {
  nlohmann::json modules = nlohmann::json::array();
  for (const CheckedModule& module : check.modules) {
    modules.push_back({{"module", module.id},
                       {"stage", stage_name(module.stage)},
                       {"options", module.options},
                       {"brought_by", module.brought_by}});
  }
  return {{"name", name},
          {"composes", composes},
          {"missing_packs", check.missing_packs},
          {"target", check.target},
          {"modules", modules}};
}

/// Adds faults that several spaces share once.
void add_new(const std::vector<SpaceFault>& found, std::vector<SpaceFault>& faults) {
  for (const SpaceFault& fault : found) {
    if (std::ranges::find(faults, fault.message, &SpaceFault::message) == faults.end())
      faults.push_back(fault);
  }
}

}  // namespace

int run_spaces_lint(const Common& common, const SpacesArguments& arguments) {
  std::vector<SpaceFault> faults;
  Session session(common, load_with_faults(common, arguments, faults));
  nlohmann::json spaces = nlohmann::json::array();
  for (const std::string& name : session.spaces().names()) {
    const SpaceSpec& spec = session.spaces().space(name);
    SpaceCheck check = check_space(spec, session.registry());
    if (check.faults.empty()) compose(spec, session.registry(), check.faults);
    const bool composes = check.faults.empty() && !session.spaces().has_fault(name);
    spaces.push_back(to_json(name, check, composes));
    add_new(check.faults, faults);
    if (common.json) continue;
    fmt::print(output(), "{}: space '{}' {}\n", session.spaces().file(), name,
               composes                      ? "composes"
               : check.missing_packs.empty() ? "has faults"
                                             : "is not checked");
    print_stages(check);
  }
  nlohmann::json list = nlohmann::json::array();
  for (const SpaceFault& fault : faults) {
    list.push_back({{"message", fault.message}, {"of_machine", fault.of_machine}});
    fmt::print(stderr, "tunesmith: {}\n", fault.message);
  }
  if (common.json) {
    print_json({{"file", session.spaces().file()}, {"spaces", spaces}, {"faults", list}});
  }
  if (faults.empty()) return kDone;
  return std::ranges::all_of(faults, &SpaceFault::of_machine) ? kEnvironmentFault : kBadInput;
}

}  // namespace tunesmith::cli
