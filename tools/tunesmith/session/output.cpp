#include "output.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

namespace tunesmith::cli {
namespace {
std::FILE* g_output = nullptr;  // null for stdout
}  // namespace

std::FILE* output() { return g_output != nullptr ? g_output : stdout; }

void print_modelled_note() {
  std::fputs("            modelled times: the device is emulated; only correctness was tested\n", output());
}

void keep_output_from_plugins() {
  if (g_output != nullptr) return;
  std::fflush(stdout);
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) g_output = fdopen(kept, "w");
  if (g_output == nullptr)
    throw EnvironmentError(fmt::format("cannot duplicate standard output: {}", std::strerror(errno)));
}

}  // namespace tunesmith::cli
