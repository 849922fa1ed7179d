// Gives mutated examples to a reader, without libFuzzer:
//
//   readers_NAME [--seed S] [--count N | --seconds T] [--dict FILE] [--found FILE] FOLDER..
//
// An input depends only on the seed and its number. One that ends the process, takes 5 s of a processor or a
// GiB of memory is written to the file `found`.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "mistakes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using namespace tunesmith;

constexpr int kMaxSeconds = 5;
constexpr rlim_t kMaxMemory = rlim_t{1} << 30;

// For the signal handler.
std::string input;
std::string found = "found";
uint64_t number = 0;

void keep_input() {
  const int file = open(found.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, input.data(), input.size()) < 0) return;
  close(file);
}

void end_on_signal(int signal) {
  keep_input();
  std::array<char, 160> text{};
  const auto [end, size] = fmt::format_to_n(text.begin(), text.size(), "input {}: {}; see {}\n", number,
                                            signal == SIGPROF ? "takes too long" : strsignal(signal), found);
  if (write(STDERR_FILENO, text.data(), std::min(size, text.size())) < 0) _exit(2);
  _exit(1);
}

void watch() {
  static std::vector<char> stack(size_t{1} << 16);
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = end_on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF})
    sigaction(signal, &action, nullptr);
  const rlimit limit{kMaxMemory, kMaxMemory};
  setrlimit(RLIMIT_DATA, &limit);
}

void limit_time(int seconds) {
  const itimerval timer{{}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

struct Arguments {
  uint64_t seed = 1;
  uint64_t count = 100;
  double seconds = 0.0;  // 0: `count` inputs
  test::Examples examples;
};

Arguments read_arguments(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string option = texts[i];
    if (!option.starts_with("--")) {
      arguments.examples.add_folder(option);
      continue;
    }
    const std::string value = ++i < count ? texts[i] : "";
    if (option == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (option == "--count") {
      arguments.count = std::stoull(value);
    } else if (option == "--seconds") {
      arguments.seconds = std::stod(value);
    } else if (option == "--dict") {
      arguments.examples.add_words(value);
    } else if (option == "--found") {
      found = value;
    } else {
      throw std::invalid_argument("unknown option " + option);
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** texts) {
  try {
    const Arguments arguments = read_arguments(count, texts);
    watch();
    const auto begin = std::chrono::steady_clock::now();
    const auto goes_on = [&] {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      return arguments.seconds > 0.0 ? passed.count() < arguments.seconds : number < arguments.count;
    };
    for (; goes_on(); ++number) {
      input = arguments.examples.input(arguments.seed, number);
      limit_time(kMaxSeconds);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      limit_time(0);
    }
    fmt::print("{} inputs\n", number);
    return 0;
  } catch (const std::exception& error) {
    keep_input();
    fmt::print(stderr, "input {}: {}; see {}\n", number, error.what(), found);
    return 1;
  }
}
