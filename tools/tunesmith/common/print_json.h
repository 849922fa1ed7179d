// Prints the output of --json.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::cli {

/// A value in one line. Invalid UTF-8 in texts of users, files and compilers becomes U+FFFD.
std::string json_line(const nlohmann::json& value);

/// The same on output().
void print_json(const nlohmann::json& value);

}  // namespace tunesmith::cli
