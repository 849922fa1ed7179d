#include "print_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output.h"

namespace tunesmith::cli {

std::string json_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_json(const nlohmann::json& value) { fmt::print(output(), "{}\n", json_line(value)); }

}  // namespace tunesmith::cli
