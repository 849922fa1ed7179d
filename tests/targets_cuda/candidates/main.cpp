// Random candidates of the suite's operators, compiled for several architectures and run on the emulated
// device: how many fit, whether all are right, and how long a check takes (docs/testing.md).
#include <cstdio>
#include <fstream>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "operator_check.h"
#include "table.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/workload/library.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::testing;

struct Arguments {
  std::vector<std::string> spaces{"cuda", "cuda-tensorcore"};
  std::vector<std::string> operators;
  std::vector<std::string> architectures{"sm_80", "sm_90a"};
  int count = 50;
  uint64_t seed = 1;
  int draws = 100;  // maximum for each candidate
  size_t threads = available_processors();
  bool all_shapes = false, no_runs = false;
  std::string json;
};

/// The workload itself, and with 16-bit floats if it does not give a type.
std::vector<std::string> forms_for_unit(const std::string& workload) {
  std::vector<std::string> forms{workload};
  const auto [name, given] = parse_workload_text(workload);
  const auto is_type = [](const auto& param) { return param.name == "dtype"; };
  const bool typed = std::ranges::any_of(WorkloadLibrary().definition(name).params(), is_type);
  if (typed && workload.find("dtype=") == std::string::npos) forms.push_back(workload + ",dtype=f16");
  return forms;
}

class Report {
 public:
  explicit Report(const Arguments& arguments) : arguments_(arguments), nvrtc_(cuda::Nvrtc::find()) {}

  void space(const std::string& name) {
    const SpaceSpec spec = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(name);
    std::vector<OperatorCounts> lines;
    for (const WorkloadSuite& suite : WorkloadLibrary().suites()) {
      if (!arguments_.operators.empty() &&
          std::ranges::find(arguments_.operators, suite.id) == arguments_.operators.end())
        continue;
      const size_t shapes = arguments_.all_shapes ? suite.workloads.size() : 1;
      for (size_t i = 0; i < shapes; ++i) {
        const std::vector<std::string> forms =
            spec.extensions.empty() ? std::vector{suite.workloads[i]} : forms_for_unit(suite.workloads[i]);
        for (const std::string& form : forms) one(suite.id, spec, form, lines);
      }
    }
    fmt::print("\nspace {}, seed {}, {}\n{}", name, arguments_.seed, fmt::join(arguments_.architectures, "/"),
               table_of(lines, arguments_.architectures));
  }

  int finish() {
    for (const std::string& text : examples_) fmt::print("{}", text);
    if (nvrtc_ == nullptr) fmt::print("\nnot compiled: {}\n", cuda::Nvrtc::why_absent());
    if (texts_ > 0)
      fmt::print(
          "\nNVRTC: {} compiles in {:.1f} s on {} threads, {:.1f} a second; {:.3f} s of a processor each\n",
          texts_, compile_seconds_, arguments_.threads, static_cast<double>(texts_) / compile_seconds_,
          processor_seconds_ / static_cast<double>(texts_));
    if (!arguments_.json.empty()) std::ofstream(arguments_.json) << json_.dump(1) << "\n";
    return right_ ? 0 : 1;
  }

 private:
  void one(const std::string& id, const SpaceSpec& spec, const std::string& workload,
           std::vector<OperatorCounts>& lines) {
    OperatorCheck check(id, spec, workload, registry_);
    if (!spec.extensions.empty() && !check.uses_unit()) return;
    check.draw(arguments_.count, arguments_.count * arguments_.draws, arguments_.seed);
    if (nvrtc_ != nullptr) {
      compile_seconds_ += check.compile(*nvrtc_, arguments_.architectures, arguments_.threads);
      for (const auto& [name, counts] : check.counts().architectures) {
        texts_ += counts.seconds.size();
        processor_seconds_ += std::accumulate(counts.seconds.begin(), counts.seconds.end(), 0.0);
      }
    }
    if (!arguments_.no_runs) check.verify();
    const OperatorCounts& counts = check.counts();
    lines.push_back(counts);
    json_.push_back(json_of(counts));
    right_ = right_ && counts.right();
    examples_.insert(examples_.end(), counts.examples.begin(), counts.examples.end());
    fmt::print(stderr, "{} in {}: {} of {} fit, {}\n", workload, spec.name, counts.fitting, counts.candidates,
               counts.right() ? "all right" : "NOT RIGHT");
  }

  const Arguments& arguments_;
  const cuda::Nvrtc* nvrtc_;
  PluginRegistry registry_;
  size_t texts_ = 0;            // that NVRTC compiled
  double compile_seconds_ = 0;  // by the clock, and of the processors
  double processor_seconds_ = 0;
  nlohmann::json json_ = nlohmann::json::array();
  std::vector<std::string> examples_;
  bool right_ = true;
};

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  CLI::App app("Draws random candidates, compiles them by NVRTC and runs them on the emulated device.");
  app.add_option("--spaces", arguments.spaces, "spaces; one with extensions: operators that use its unit")
      ->delimiter(',');
  app.add_option("--operators", arguments.operators, "of the suite, as GMM; all unless given")
      ->delimiter(',');
  app.add_option("--architectures", arguments.architectures, "that NVRTC compiles for")->delimiter(',');
  app.add_option("--count", arguments.count, "candidates of each operator");
  app.add_option("--draws", arguments.draws, "for each candidate, at most");
  app.add_option("--seed", arguments.seed, "of the draws");
  app.add_option("--threads", arguments.threads, "that compile by NVRTC at once");
  app.add_flag("--all-shapes", arguments.all_shapes, "of each operator; the first unless given");
  app.add_flag("--no-runs", arguments.no_runs, "compile by NVRTC only");
  app.add_option("--json", arguments.json, "file for the figures");
  CLI11_PARSE(app, count, words);
  Report report(arguments);
  for (const std::string& space : arguments.spaces) report.space(space);
  return report.finish();
}
