// Any bytes from a worker's socket are a message that reads the same when it is written again, or are refused
// with a reason.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/support/error.h>

#include "every_message.h"
#include "message_bytes.h"
#include "messages/limits.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<test::ReadMessage> all = test::every_message();
  const std::string bytes = test::frame_of_seed({reinterpret_cast<const char*>(data), size});
  for (const MessageLimits& limits : {kPlainAnswer, kQuestion}) {
    const Received received = test::receive_bytes(bytes, limits);
    const bool refused = received.status == TransferStatus::Nonsense;
    if (refused == received.nonsense.empty())
      throw InternalError("refused without a reason, or read with one");
    if (received.status != TransferStatus::Done) continue;
    type_of(received.message);
    for (const test::ReadMessage& one : all) one.read(received.message);
  }
  return 0;
}
