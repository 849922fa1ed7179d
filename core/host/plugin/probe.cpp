#include <array>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "plugin/loader.h"
#include "plugin/probe_question.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/installation.h"

namespace tunesmith {

namespace {

/// Starts a worker with `question` and collects the output of these descriptors.
Collected ask_worker(const ProbeQuestion& question, ProcessSetup setup, Pipe& answer, double seconds) {
  const MemoryFile input("question");
  if (!write_whole(input.descriptor(), question.text()))
    throw EnvironmentError(fmt::format("a question cannot be written: {}", std::strerror(errno)));
  input.rewind();
  setup.input = input.descriptor();
  setup.limits = {{RLIMIT_CORE, 0}};
  ChildProcess worker({worker_program().string(), kProbe}, setup);
  answer.close_write();
  const std::array<int, 1> ends{answer.read_end()};
  return collect(worker, ends, seconds);
}

}  // namespace

std::vector<std::string> help_lines_of(const std::vector<PluginInfo>& plugins, const PluginLock* lock) {
  ProbeQuestion question{plugins, lock != nullptr ? std::optional(*lock) : std::nullopt, true};
  std::vector<std::string> lines;
  while (lines.size() < plugins.size()) {
    Pipe answer;
    ProcessSetup setup;  // separates what plugins print from the help lines
    setup.passed = {answer.write_end()};
    question.plugins.assign(plugins.begin() + static_cast<std::ptrdiff_t>(lines.size()), plugins.end());
    std::istringstream answered(ask_worker(question, setup, answer, kAnyTime).texts.front());
    for (std::string line; std::getline(answered, line);) lines.push_back(line);
    if (lines.size() < plugins.size()) lines.emplace_back();  // the plugin ended the process
  }
  return lines;
}

std::string probe_plugin(const PluginInfo& plugin, const PluginLock* lock) {
  Pipe answer;
  ProcessSetup setup;
  setup.output = setup.errors = answer.write_end();
  const Collected answered = ask_worker(
      {{plugin}, lock != nullptr ? std::optional(*lock) : std::nullopt, false}, setup, answer, kProbeSeconds);
  const ProcessEnd& end = answered.end;
  std::string said = answered.texts.front();
  const auto refused = [&](const std::string& why) {
    return fmt::format("{}: {} is refused: [P12] {}", plugin_name(plugin.kind, plugin.id),
                       plugin.library.string(), why);
  };
  if (end.cause == ProcessEnd::Cause::TimedOut)
    return refused(fmt::format("loading it took more than {} seconds", kProbeSeconds));
  if (end.cause == ProcessEnd::Cause::Signalled)
    return refused(fmt::format("loading it crashed: {}", end.str()));
  if (end.succeeded()) return {};
  if (end.code == kProbeRefused) return said;
  // A damaged library or an initialiser may end the process.
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return refused(
      fmt::format("loading it ended the process with {}{}{}", end.str(), said.empty() ? "" : ": ", said));
}

}  // namespace tunesmith
