// Remarks for the user that are neither errors nor results.
#pragma once

#include <functional>
#include <string>

namespace tunesmith::cli {

/// A line, from any thread: on standard error as "tunesmith: LINE", unless say_to() leads it elsewhere.
void say(const std::string& line);

/// say() will call `listener`, from any thread.
/// Call once, before other threads use say().
void say_to(std::function<void(const std::string& line)> listener);

}  // namespace tunesmith::cli
