#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measure/runner.h>
#include <tunesmith/support/progress.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tune/candidate_compiler.h>

#include "commands.h"
#include "exit_codes.h"
#include "memory.h"
#include "output.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// A C identifier: "gmm_1x512" and the like become gmm_1x512.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "k" + name;
  return name;
}

/// A name that a person chose is taken as it is, or refused.
void require_identifier(const std::string& name) {
  if (name == identifier(name)) return;
  throw UserError(fmt::format("--name '{}' cannot name C functions", name),
                  "letters, digits and _, and no digit first");
}

/// What a verified program takes, and how it was verified.
struct Verified {
  double seconds = 0.0;
  std::string of_twin;  // "" or ", as its twin of gmm:n=128,..."
};

/// Verifies and times a program of which there is no record. Throws UserError when it is not right.
Verified measure(const Workload& workload, const Candidate& candidate, const CompiledKernel& kernel,
                 const BuildArguments& arguments, const Session& session, const Space& space) {
  require_memory(workload, arguments.allow_memory);
  // What is verified is the code that is shipped, but where the target has twins verified in its place.
  std::optional<CandidateKernel> twin;
  if (space.target().verifies_twins()) {
    auto code = CandidateCompiler(workload, space).compile(candidate, "tunesmith_verified");
    if (!code) throw EnvironmentError(fmt::format("{} does not compile: {}", workload.key, code.error()));
    twin = std::move(*code);
  }
  MeasureOptions options;
  options.threads = arguments.threads;
  options.time_out_seconds = arguments.candidate_time_out;
  options.machine = machine_lock();
  const Workload* const instance = twin ? twin->instance.get() : nullptr;
  const MeasureRequest request{.kernel = twin ? &twin->kernel : &kernel, .instance = instance};
  const MeasureResult result = make_worker_runner(workload, space.target(), session.worker_target(), options)
                                   ->run({&request, 1})
                                   .front();
  if (result.failure) {
    throw UserError(fmt::format("the program is not shipped: {}, {}",
                                failure_cause_name(result.failure->cause), result.failure->message));
  }
  return {result.timing->min, instance != nullptr ? fmt::format(", as its twin of {}", instance->key) : ""};
}

}  // namespace

int run_build(const Common& common, const BuildArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  const Workload workload = find_workload(arguments.workload, arguments.database);
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  const std::string id =
      arguments.trace.empty()
          ? best_record(workload, *space, arguments.database, threads, arguments.workload).id
          : arguments.trace;
  const NamedTrace named = load_trace(id, arguments.database);
  const CandidatePtr candidate = materialise(*space, workload, named);
  const std::string name = identifier(arguments.name.empty() ? workload.name : arguments.name);
  const auto kernel = space->target().compile(candidate->lowered, name + "_kernel");
  if (!kernel) throw EnvironmentError(fmt::format("{} does not compile: {}", workload.key, kernel.error()));
  std::string provenance = fmt::format("{}, {} {}, ", workload.key, named.record ? "record" : "trace", id);
  // What is shipped was verified and measured: the program itself, not the trace that it was made from.
  const bool measured = named.record && named.record->ok() &&
                        named.record->lowered_hash == candidate->lowered_hash &&
                        is_measured(*candidate, workload, *space, arguments.database, threads);
  if (measured) {
    provenance += seconds_text(named.record->seconds);
    if (!named.record->verified_on.empty())
      provenance += fmt::format(", verified as its twin of {}", named.record->verified_on);
  } else {
    const Verified verified = measure(workload, *candidate, *kernel, arguments, session, *space);
    const std::string time = seconds_text(verified.seconds);
    const std::string_view how = space->target().models_times() ? "modelled" : "measured";
    provenance += fmt::format("{}, verified and {} when it was built{}", time, how, verified.of_twin);
    if (!common.json)
      fmt::print(output(), "no record of this program: verified and {} now{}, {}\n", how, verified.of_twin,
                 time);
  }
  std::filesystem::create_directories(arguments.output);
  const LibraryFiles files =
      space->target().build_library({&*kernel, &workload.program, name, arguments.output, provenance});
  if (common.json) {
    fmt::print(output(), "{}\n",
               nlohmann::json{{"workload", workload.key},
                              {"library", files.library},
                              {"header", files.header},
                              {"others", files.others},
                              {"provenance", provenance},
                              {"measured_now", !measured},
                              {"prepares", kernel->prepare.has_value()}}
                   .dump());
  } else {
    fmt::print(output(), "built {}\n      {}\n", files.library, files.header);
    for (const std::string& other : files.others) fmt::print(output(), "      {}\n", other);
    if (kernel->prepare)
      fmt::print(output(), "call {}_prepare once before {}: the header says how\n", name, name);
  }
  return kDone;
}

}  // namespace tunesmith::cli
