#include "processor_time.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace tunesmith::testing {
namespace {

double seconds_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The time of a child and of those that it has waited for: fields 14 to 17 of its line, counted from behind
/// the name, which may contain anything.
double seconds_of_child(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double ticks = 0;
  for (int field = 14; field < 18; ++field) {
    double value = 0;
    fields >> value;
    ticks += value;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

double processor_seconds() {
  double seconds = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
  std::error_code gone;  // a thread that ends meanwhile
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream children(thread.path() / "children");
    for (std::string process; children >> process;) seconds += seconds_of_child(process);
  }
  return seconds;
}

}  // namespace tunesmith::testing
