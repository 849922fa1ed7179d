#include "say.h"

#include <cstdio>

#include <fmt/format.h>

namespace tunesmith::cli {
namespace {

std::function<void(const std::string&)>& listener() {
  static std::function<void(const std::string&)> g_listener = [](const std::string& line) {
    fmt::print(stderr, "tunesmith: {}\n", line);
  };
  return g_listener;
}

}  // namespace

void say(const std::string& line) { listener()(line); }

void say_to(std::function<void(const std::string& line)> own) { listener() = std::move(own); }

}  // namespace tunesmith::cli
