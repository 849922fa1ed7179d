// `report --follow`: serves a report's page, which polls for new data during a run.
#include "records/follow.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>
#include <tunesmith/support/hash.h>

#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "output.h"
#include "report/page.h"

namespace tunesmith::cli {
namespace {

constexpr int kNotModified = 304, kForbidden = 403, kUnavailable = 503;

struct Place {
  std::string host;
  int port = 0;
  bool loopback() const { return host == "127.0.0.1" || host == "localhost"; }
};

Place parse_place(const std::string& text) {
  const size_t colon = text.rfind(':');
  constexpr int kMaxPort = 65535;
  Place place{text.substr(0, colon), -1};
  if (colon != std::string::npos) {
    const std::string port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
    if (error != std::errc() || end != port.data() + port.size()) place.port = -1;
  }
  if (place.host.empty() || place.port < 0 || place.port > kMaxPort)
    throw UserError(fmt::format("'{}' is not an address to serve at", text),
                    "expected HOST:PORT, such as 127.0.0.1:8080; port 0 chooses a free port");
  return place;
}

/// The page's data, made again when the store's files or the fleet have changed.
class Shown {
 public:
  Shown(const std::filesystem::path& store, const std::function<nlohmann::json()>& make)
      : files_{store, store.string() + "-wal"}, make_(make) {}

  void see(nlohmann::json fleet) {
    const std::lock_guard lock(mutex_);
    fleet_ = std::move(fleet);
  }

  /// The data, and their ETag.
  std::pair<nlohmann::json, std::string> now() {
    const std::lock_guard lock(mutex_);
    std::string changed = json_line(fleet_);
    for (const std::filesystem::path& file : files_) {
      std::error_code none;  // a missing file has a distinct time, too
      changed +=
          fmt::format(" {} {}", std::filesystem::last_write_time(file, none).time_since_epoch().count(),
                      std::filesystem::file_size(file, none));
    }
    if (changed != changed_) {
      data_ = make_();
      data_["follows"] = true;
      data_["fleet"] = fleet_;
      changed_ = std::move(changed);
    }
    return {data_, fmt::format("\"{:016x}\"", hash_bytes(changed_))};
  }

 private:
  const std::vector<std::filesystem::path> files_;
  const std::function<nlohmann::json()> make_;
  std::mutex mutex_;
  std::string changed_;
  nlohmann::json data_, fleet_;
};

/// Refuses other host names: a foreign page could resolve its own name to this address (DNS rebinding).
void answer_own_name_only(httplib::Server& server, const Place& place) {
  server.set_pre_routing_handler([place](const httplib::Request& asked, httplib::Response& answer) {
    const std::string host = asked.get_header_value("Host");
    if (host == fmt::format("127.0.0.1:{}", place.port) || host == fmt::format("localhost:{}", place.port))
      return httplib::Server::HandlerResponse::Unhandled;
    answer.status = kForbidden;
    answer.set_content(fmt::format("This is not '{}'.\n", host), "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
}

void add_answers(httplib::Server& server, Shown& shown) {
  const auto get = [&](const char* path, const char* type, auto text_of) {
    server.Get(path, [&shown, type, text_of](const httplib::Request& asked, httplib::Response& answer) {
      answer.set_header("Cache-Control", "no-store");
      try {
        const auto [data, version] = shown.now();
        answer.set_header("ETag", version);
        if (asked.get_header_value("If-None-Match") == version)
          answer.status = kNotModified;
        else
          answer.set_content(text_of(data), type);
      } catch (const Error& error) {  // the next request may succeed
        answer.status = kUnavailable;
        answer.set_content(error.what(), "text/plain; charset=utf-8");
      }
    });
  };
  get("/", "text/html; charset=utf-8", [](const nlohmann::json& data) { return report::page(data); });
  get("/data.json", "application/json", &json_line);
}

/// The fleet's workers, or why the fleet does not answer.
nlohmann::json look_at(const std::function<nlohmann::json()>& fleet) {
  try {
    return fleet();
  } catch (const Error& error) {
    return {{"fault", error.what()}};
  }
}

}  // namespace

int follow_report(const std::string& where, const std::filesystem::path& store,
                  const std::function<nlohmann::json()>& data, const std::function<nlohmann::json()>& fleet) {
  constexpr std::chrono::milliseconds kLook{100};
  Place place = parse_place(where);
  const std::atomic<bool>& ends = drain_on_interrupt();
  Shown shown(store, data);
  static_cast<void>(shown.now());  // reports a store that cannot be shown before serving
  httplib::Server server;
  // By default httplib lets two processes share a port (SO_REUSEPORT).
  server.set_socket_options([](socket_t socket) {
    constexpr int kOn = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof(kOn));
  });
  if (place.port == 0)
    place.port = server.bind_to_any_port(place.host);
  else if (!server.bind_to_port(place.host, place.port))
    place.port = -1;
  if (place.port < 0)
    throw EnvironmentError(fmt::format(
        "cannot listen on {}: the address does not exist on this machine, or the port is in use", where));
  if (place.loopback()) answer_own_name_only(server, place);
  add_answers(server, shown);
  std::thread serving([&] { server.listen_after_bind(); });
  fmt::print(output(), "{} is served at http://{}:{}/ with live updates; Ctrl-C stops it\n", store.string(),
             place.host, place.port);
  std::fflush(output());
  const char* const broker = std::getenv("TUNESMITH_BROKER");
  while (!ends) {
    if (broker != nullptr && *broker != '\0') shown.see(look_at(fleet));
    std::this_thread::sleep_for(kLook);
  }
  server.stop();
  serving.join();
  return kDone;
}

}  // namespace tunesmith::cli
