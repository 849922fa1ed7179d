#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/progress.h>

#include "commands.h"
#include "exit_codes.h"

namespace tunesmith::cli {
namespace {

/// A C identifier: "gmm_1x512" and the like become gmm_1x512.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "k" + name;
  return name;
}

Trace trace_from_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UserError(SourceLocation{path, 0, 0}, "cannot be read");
  return Trace::parse(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

struct Chosen {
  Trace trace;
  std::string provenance;
};

Chosen choose(const BuildArguments& arguments, const Workload& workload, const Space& space) {
  if (!arguments.trace.empty()) {
    return {trace_from_file(arguments.trace), fmt::format("{}, trace {}", workload.key, arguments.trace)};
  }
  const RecordStore store(database_path(arguments.database), RecordStore::Mode::Existing);
  RecordFilter filter;
  filter.workload_hash = workload.hash;
  filter.target = space.target().identity();
  filter.machine = detect_environment(space.plugin_versions()).machine();
  filter.ok = true;
  const std::vector<Record> best = store.best(filter, 1);
  if (best.empty()) {
    throw UserError(fmt::format("no record of {} on this machine in {}", workload.key, store.path().string()),
                    fmt::format("run: tunesmith tune {}", arguments.workload));
  }
  return {Trace::parse(best.front().trace, "record " + best.front().id),
          fmt::format("{}, record {}, {}", workload.key, best.front().id,
                      seconds_text(best.front().timing->median))};
}

}  // namespace

int run_build(const Common& common, const BuildArguments& arguments) {
  const Workload workload = WorkloadLibrary().load(arguments.workload);
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const Chosen chosen = choose(arguments, workload, *space);
  const auto candidate = space->materialise(workload.program, chosen.trace, RandomStream(0));
  if (!candidate) {
    throw UserError(fmt::format("the trace does not fit {}: {}", workload.key, candidate.error().message));
  }
  const std::string name = identifier(arguments.name.empty() ? workload.name : arguments.name);
  const auto kernel = space->target().compile((*candidate)->lowered, name + "_kernel");
  if (!kernel) throw EnvironmentError(fmt::format("{} does not compile: {}", workload.key, kernel.error()));
  std::filesystem::create_directories(arguments.output);
  const LibraryFiles files =
      space->target().build_library({&*kernel, &workload.program, name, arguments.output, chosen.provenance});
  if (common.json) {
    fmt::print(
        "{}\n",
        nlohmann::json{{"workload", workload.key}, {"library", files.library}, {"header", files.header}}
            .dump());
  } else {
    fmt::print("built {}\n      {}\n", files.library, files.header);
  }
  return kDone;
}

}  // namespace tunesmith::cli
