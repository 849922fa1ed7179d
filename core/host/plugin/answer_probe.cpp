#include <algorithm>
#include <csignal>
#include <cstring>

#include <sys/prctl.h>
#include <unistd.h>

#include "plugin/loader.h"
#include "plugin/probe_question.h"
#include "tunesmith/plugin/probe.h"
#include "tunesmith/support/read_to_end.h"

namespace tunesmith {
namespace {

int load_first(const ProbeQuestion& question, const PluginLock* lock) {
  try {
    load_plugin(question.plugins.front(), lock);
  } catch (const Error& error) {
    const ssize_t written = write(STDOUT_FILENO, error.what(), std::strlen(error.what()));
    return written > 0 ? kProbeRefused : kProbeRefused + 1;
  }
  return 0;
}

/// Writes a line of help for each plugin, an empty one if it is refused.
int write_help(const ProbeQuestion& question, const PluginLock* lock) {
  for (const PluginInfo& plugin : question.plugins) {
    alarm(kProbeSeconds);
    std::string line;
    try {
      line = load_plugin(plugin, lock).help();
    } catch (const Error&) {
      line.clear();  // `plugins list --why` prints the reason
    }
    std::ranges::replace(line, '\n', ' ');
    line += '\n';
    if (write(kProbeLines, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
  }
  return 0;
}

}  // namespace

int answer_probe() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const ProbeQuestion question = ProbeQuestion::parse(read_to_end(STDIN_FILENO));
  const PluginLock* const lock = question.lock ? &*question.lock : nullptr;
  // Skips destructors of objects that plugins left.
  _exit(question.help ? write_help(question, lock) : load_first(question, lock));
}

}  // namespace tunesmith
