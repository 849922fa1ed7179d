// fuzz_pairs SEED FIRST COUNT: runs the pairs [FIRST, FIRST + COUNT) of a seed. Prints its position every ten
// seconds. A pair depends only on the seed and its number, so an interrupted run can continue from there, and
// processes can share a range. Ends with 1, after the last pair, if a result was wrong.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "compiled_fuzz.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace tunesmith::fuzz;

/// The message of a crash: the pair, from which everything can be made again.
char crash_line[128];

void on_crash(int signal) {
  // Nothing can be done when writing fails.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, crash_line, std::strlen(crash_line));
  std::signal(signal, SIG_DFL);
  raise(signal);
}

bool parse(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 0, first = 0, count = 0;
  if (argc != 4 || !parse(argv[1], seed) || !parse(argv[2], first) || !parse(argv[3], count)) {
    fmt::print(stderr, "usage: fuzz_pairs SEED FIRST COUNT\n");
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, on_crash);
  CompiledFuzz fuzz(seed);
  uint64_t wrong = 0;
  const auto began = Clock::now();
  auto said = began;
  const auto report = [&](uint64_t next) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    fmt::print(stderr, "seed {}: next pair {} of [{}, {}), {} compiled, {} wrong, {:.0f} pairs/s\n", seed,
               next, first, first + count, fuzz.compiled(), wrong,
               static_cast<double>(next - first) / seconds);
  };
  for (uint64_t pair = first; pair < first + count; ++pair) {
    *fmt::format_to_n(crash_line, sizeof(crash_line) - 1, "crashed: seed {} pair {}\n", seed, pair).out =
        '\0';
    // A single pair has usually crashed before, so print it first.
    if (count == 1) fmt::print(stderr, "{}\n", fuzz.text(pair));
    const std::string what = fuzz.run(pair);
    if (!what.empty()) {
      ++wrong;
      fmt::print("{}\n", what);
      std::fflush(stdout);
    }
    if (Clock::now() - said < std::chrono::seconds(10)) continue;
    said = Clock::now();
    report(pair + 1);
  }
  report(first + count);
  return wrong == 0 ? 0 : 1;
}
