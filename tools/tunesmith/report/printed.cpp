#include "report/printed.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

namespace tunesmith::report {
namespace {

/// A kind of output, and how to recognise it.
struct Kind {
  std::string_view what, command;
  std::vector<const char*> keys;
};

nlohmann::json read(const std::vector<std::string>& files, const Kind& kind) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::error_code unknown;
    if (!in || std::filesystem::is_directory(file, unknown)) throw UserError({file}, "cannot read the file");
    nlohmann::json one = nlohmann::json::parse(in, nullptr, false);
    const auto has = [&](const char* key) { return one.is_object() && one.contains(key); };
    if (!std::ranges::all_of(kind.keys, has))
      throw UserError({file}, fmt::format("not a {}", kind.what),
                      fmt::format("create one with: tunesmith {} --json > {}", kind.command, file));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

nlohmann::json comparisons(const std::vector<std::string>& files) {
  return read(files, {"comparison", "compare ...", {"baseline", "seeds", "trials", "workloads", "overall"}});
}

nlohmann::json networks(const std::vector<std::string>& files) {
  return read(files, {"timing of a network",
                      "network bench FOLDER",
                      {"name", "threads", "calls", "seconds", "sum_of_steps", "sum_of_medians", "steps"}});
}

}  // namespace tunesmith::report
