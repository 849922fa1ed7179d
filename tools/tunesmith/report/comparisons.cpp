// What `compare --json` said of ways of searching.
#include "report/comparisons.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

namespace tunesmith::report {

nlohmann::json comparisons(const std::vector<std::string>& files) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw UserError({file}, "there is no such file, or it cannot be read");
    nlohmann::json one = nlohmann::json::parse(in, nullptr, false);
    for (const char* key : {"baseline", "seeds", "trials", "workloads", "overall"}) {
      if (!one.is_object() || !one.contains(key))
        throw UserError({file}, "this is no comparison",
                        fmt::format("write one with: tunesmith compare ... --json > {}", file));
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace tunesmith::report
