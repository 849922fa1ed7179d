// Remarks for a person: what happened that is no error and no result.
#pragma once

#include <functional>
#include <string>

namespace tunesmith::cli {

/// A line, from any thread: on standard error as "tunesmith: LINE", unless say_to() leads it elsewhere.
void say(const std::string& line);

/// From now on say() calls `listener`, from any thread. To be called once, before any other thread says
/// anything.
void say_to(std::function<void(const std::string& line)> listener);

}  // namespace tunesmith::cli
