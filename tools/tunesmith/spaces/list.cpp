// `spaces list`: lists spaces with their purpose, and what this machine lacks to use them.
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/space/check_space.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

struct ListedSpace {
  const SpaceSpec* spec = nullptr;
  std::string file;
  bool built_in = false;
};

/// The spaces of the file, and the built-in ones that it does not replace.
std::map<std::string, ListedSpace> all_spaces(const Session& session) {
  std::map<std::string, ListedSpace> all;
  const auto add = [&](const SpacesFile& file, bool built_in) {
    for (const std::string& name : file.names())
      all.try_emplace(name, ListedSpace{&file.space(name), file.file(), built_in});
  };
  add(session.spaces(), !session.builtin_spaces());
  if (session.builtin_spaces()) add(*session.builtin_spaces(), true);
  return all;
}

std::string to_text(const CheckedExtension& extension) {
  return extension.lacks.empty() ? extension.name
                                 : fmt::format("{} (unavailable: lacks {})", extension.name, extension.lacks);
}

nlohmann::json to_json(const CheckedExtension& extension) {
  return {{"name", extension.name},
          {"optional", extension.optional},
          {"here", extension.lacks.empty()},
          {"lacks", extension.lacks}};
}

void print(const std::string& name, const ListedSpace& space, const SpaceCheck& check) {
  const size_t count = check.modules.size();
  fmt::print(output(), "{:<24} {:<8} {:>2} module{}  {}\n", name, space.spec->target.id, count,
             count == 1 ? " " : "s", space.built_in ? "built in" : space.file);
  if (!space.spec->description.empty()) fmt::print(output(), "    {}\n", space.spec->description);
  std::vector<std::string> extensions;
  for (const CheckedExtension& extension : check.extensions) extensions.push_back(to_text(extension));
  if (!extensions.empty()) fmt::print(output(), "    with {}\n", fmt::join(extensions, ", "));
  for (const SpaceFault& fault : check.faults)
    fmt::print(output(), "    cannot be used: {}\n", fault.message);
}

}  // namespace

int run_spaces_list(const Common& common) {
  Session session(common);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, space] : all_spaces(session)) {
    const SpaceCheck check = check_space(*space.spec, session.registry());
    if (!common.json) {
      print(name, space, check);
      continue;
    }
    nlohmann::json extensions = nlohmann::json::array();
    for (const CheckedExtension& extension : check.extensions) extensions.push_back(to_json(extension));
    nlohmann::json faults = nlohmann::json::array();
    for (const SpaceFault& fault : check.faults) faults.push_back(fault.message);
    list.push_back({{"name", name},
                    {"description", space.spec->description},
                    {"target", check.target},
                    {"extensions", extensions},
                    {"modules", check.modules.size()},
                    {"file", space.file},
                    {"built_in", space.built_in},
                    {"missing_packs", check.missing_packs},
                    {"faults", faults}});
  }
  if (common.json) print_json({{"spaces", list}});
  return kDone;
}

}  // namespace tunesmith::cli
