// Serves a report that keeps up with a run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::cli {

/// Serves the page of `data` at `where`, HOST:PORT, until SIGTERM or Ctrl-C; read-only. Makes `data` again
/// when `store` has changed; polls `fleet` if TUNESMITH_BROKER names a broker.
int follow_report(const std::string& where, const std::filesystem::path& store,
                  const std::function<nlohmann::json()>& data, const std::function<nlohmann::json()>& fleet);

}  // namespace tunesmith::cli
