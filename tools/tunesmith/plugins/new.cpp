// `plugins new`: makes a folder with everything that a plugin needs, from the null plugin of its kind.
#include <cctype>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/files.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "next_command.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;

/// The null plugins lie beside the built-in workloads: <prefix>/share/tunesmith, or the source tree.
fs::path template_folder(std::string_view kind) {
  const fs::path folder = builtin_workload_folder().parent_path() / "sdk" / "templates" / kind;
  if (!fs::is_directory(folder)) {
    throw EnvironmentError(fmt::format(
        "{} does not exist: install the package tunesmith-dev, which has the templates", folder.string()));
  }
  return folder;
}

/// "acme_tile" -> "AcmeTile".
std::string class_name(std::string_view id) {
  std::string name;
  bool upper = true;
  for (const char letter : id) {
    if (letter == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    upper = false;
  }
  return name;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

int run_plugins_new(const Common& common, const NewPluginArguments& arguments) {
  if (!kind_from_name(arguments.kind)) {
    std::vector<std::string> known;
    for (const PluginKind kind : kPluginKinds) known.emplace_back(kind_name(kind));
    throw UserError(fmt::format("unknown kind of plugin '{}'", arguments.kind),
                    suggest(arguments.kind, known));
  }
  if (!std::regex_match(arguments.name, std::regex("[a-z][a-z0-9_]{0,62}"))) {
    throw UserError(fmt::format("'{}' is not a valid plugin id", arguments.name),
                    "expected 1 to 63 of a-z, 0-9 and _, beginning with a letter");
  }
  constexpr std::string_view kDescribed = "extension";
  if (arguments.yaml && arguments.kind != kDescribed)
    throw UserError(fmt::format("--yaml: a {} cannot be described in YAML", arguments.kind),
                    "only extensions can");
  const fs::path source = template_folder(arguments.yaml ? "extension_yaml" : arguments.kind);
  const fs::path folder = arguments.into.empty() ? fs::path(arguments.name) : fs::path(arguments.into);
  std::error_code unreadable;
  if (fs::exists(folder) && !fs::is_empty(folder, unreadable)) {
    throw UserError(fmt::format("{} exists and is not empty", folder.string()),
                    "give another folder with --into");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("{} cannot be made: {}", folder.string(), error.message()));

  const std::string null_id = "null_" + arguments.kind;
  std::vector<std::string> written;
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
    std::string name = entry.path().filename().string();
    std::string text = read_whole_file(entry.path());
    for (std::string* const each : {&name, &text}) {
      replace_all(*each, class_name(null_id), class_name(arguments.name));
      replace_all(*each, null_id, arguments.name);
    }
    write_whole_file(folder / name, text);
    written.push_back((folder / name).string());
  }
  std::ranges::sort(written);
  if (common.json) {
    print_json({{"folder", folder.string()}, {"files", written}});
    return kDone;
  }
  if (common.quiet) return kDone;
  for (const std::string& file : written) fmt::print(output(), "wrote {}\n", file);
  fmt::print(output(), "next: cd {} && cmake -B build && cmake --build build && ctest --test-dir build\n",
             shell_word(folder.string()));
  return kDone;
}

}  // namespace tunesmith::cli
