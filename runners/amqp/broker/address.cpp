#include "broker/address.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <amqp.h>
#include <fmt/format.h>

#include <tunesmith/support/error.h>

namespace tunesmith::broker {
namespace {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string line_of_file(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    throw EnvironmentError(fmt::format("{}: the broker's address cannot be read from it", path.string()));
  constexpr fs::perms kOthers = fs::perms::others_all;
  if ((fs::status(path).permissions() & kOthers) != fs::perms::none)
    throw EnvironmentError(
        fmt::format("{}: others may read the broker's password in it; remedy: chmod 600", path.string()));
  return line;
}

}  // namespace

std::string Address::str() const {
  return fmt::format("{}://{}@{}:{}", tls ? "amqps" : "amqp", user, host, port);
}

Address parse_address(std::string text, bool insecure) {
  constexpr const char* kForm =
      "write it as amqps://USER:PASSWORD@HOST, or as file:PATH, in TUNESMITH_BROKER";
  if (const char* usual = std::getenv("TUNESMITH_BROKER"); text.empty() && usual != nullptr) text = usual;
  if (text.empty()) throw EnvironmentError(fmt::format("no broker given; remedy: {}", kForm));
  constexpr std::string_view kFile = "file:";
  if (text.starts_with(kFile)) text = line_of_file(text.substr(kFile.size()));
  amqp_connection_info parsed;
  amqp_default_connection_info(&parsed);
  // The message omits the text, which may contain a password.
  if (amqp_parse_url(text.data(), &parsed) != AMQP_STATUS_OK)
    throw UserError("the broker's address cannot be read", kForm);
  Address address{parsed.host, parsed.port, parsed.user, parsed.password, parsed.vhost, parsed.ssl != 0};
  if (!address.tls && !insecure && !is_loopback(address.host))
    throw UserError(
        fmt::format("{} is not encrypted: an attacker on the network can read its password and send jobs",
                    address.str()),
        "write amqps://, or allow it with --insecure (of the runner: insecure: true)");
  return address;
}

}  // namespace tunesmith::broker
