#include "tunesmith/support/read_to_end.h"

#include <array>
#include <cerrno>

#include <unistd.h>

namespace tunesmith {

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace tunesmith
