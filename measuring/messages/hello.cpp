#include "messages/hello.h"

#include <limits>

#include "tunesmith/schema/field.h"

namespace tunesmith {

Message to_message(const Hello& hello) { return {{{"type", "hello"}, {"schema", hello.schema}}, {}}; }

tl::expected<Hello, std::string> read_hello(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("hello");
  const Hello hello{header["schema"].integer(1, std::numeric_limits<int64_t>::max())};
  return checked(hello, error);
}

}  // namespace tunesmith
