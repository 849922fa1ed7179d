// `report --follow` in a build without an HTTP server.
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

#include "records/follow.h"

namespace tunesmith::cli {

int follow_report(const std::string& /*where*/, const std::filesystem::path& /*store*/,
                  const std::function<nlohmann::json()>& /*data*/,
                  const std::function<nlohmann::json()>& /*fleet*/) {
  throw EnvironmentError(
      "this build has no HTTP server; remedy: remove --follow, or rebuild with libcpp-httplib-dev installed");
}

}  // namespace tunesmith::cli
