// The first question to a worker, and its answer: the message version of each
// side. Other messages may change with the version, but this one does not.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/schema/version.h"

namespace tunesmith {

struct Hello {
  int64_t schema = kSchemaVersion;
};

Message to_message(const Hello& hello);
tl::expected<Hello, std::string> read_hello(const Message& message);

}  // namespace tunesmith
