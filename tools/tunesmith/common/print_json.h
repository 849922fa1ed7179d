// What --json prints.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::cli {

/// A value in one line. Text of users, files and compilers may be no UTF-8: what of it is not becomes U+FFFD.
std::string json_line(const nlohmann::json& value);

/// The same on output().
void print_json(const nlohmann::json& value);

}  // namespace tunesmith::cli
