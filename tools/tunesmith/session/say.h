// Remarks for the user: neither errors nor results.
#pragma once

#include <functional>
#include <string>

namespace tunesmith::cli {

/// Prints a line on standard error as "tunesmith: LINE", unless say_to() redirects it. Thread-safe.
void say(const std::string& line);

/// Redirects say() to `listener`, which any thread may call. Call once, before other threads use say().
void say_to(std::function<void(const std::string& line)> listener);

}  // namespace tunesmith::cli
