#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/target/packaging.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/called_places.h>
#include <tunesmith/tuning/candidate_compiler.h>
#include <tunesmith/tuning/tuner.h>

#include "commands.h"
#include "exit_codes.h"
#include "memory.h"
#include "output.h"
#include "progress/progress.h"
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

/// Records that are tried where nobody named a program: those in front may be refused by the check as it is
/// now.
constexpr size_t kChoices = 5;

/// The check refuses the program.
class NotRight : public UserError {
 public:
  using UserError::UserError;
};

/// What a verified program takes, and how it was verified.
struct Verified {
  double seconds = 0.0;
  std::string of_twin;  // "" or ", as its twin of gmm:n=128,..."
};

/// A program that was verified, when it was tuned or now.
struct Shipped {
  CompiledKernel kernel;
  std::string provenance;
  bool measured_now = false;
};

class Builder {
 public:
  Builder(const Common& common, const BuildArguments& arguments)
      : common_(common),
        arguments_(arguments),
        workload_(find_workload(arguments.workload, arguments.database)),
        session_(common),
        space_(session_.space()),
        threads_(arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors())),
        name_(identifier(arguments.name.empty() ? workload_.name : arguments.name)) {}

  void run() {
    Packaging* const packaging = space_->target().packaging();
    if (packaging == nullptr)
      throw UserError(fmt::format("the target of space '{}' builds no libraries", space_->spec().name),
                      "choose a space of another target with --space");
    const Shipped shipped = arguments_.trace.empty() ? ship_best() : ship(arguments_.trace);
    std::filesystem::create_directories(arguments_.output);
    print(shipped, packaging->build_library(
                       {&shipped.kernel, &workload_.program, name_, arguments_.output, shipped.provenance}));
  }

 private:
  Shipped ship_best() {
    const std::vector<Record> best =
        best_records(workload_, *space_, arguments_.database, threads_, arguments_.workload, kChoices);
    for (size_t i = 0; i + 1 < best.size(); ++i) {
      try {
        return ship(best[i].id);
      } catch (const NotRight& refusal) {
        fmt::print(stderr, "tunesmith: record {}: {}; the next best is taken\n", best[i].id, refusal.what());
      }
    }
    return ship(best.back().id);
  }

  /// `id` names a record or a file with a trace.
  Shipped ship(const std::string& id) {
    const NamedTrace named = load_trace(id, arguments_.database);
    const CandidatePtr candidate = materialise(*space_, workload_, named);
    auto kernel = space_->target().compile(candidate->lowered, name_ + "_kernel");
    if (!kernel) throw does_not_compile(kernel.error(), *candidate);
    Shipped shipped{std::move(*kernel),
                    fmt::format("{}, {} {}, ", workload_.key, named.record ? "record" : "trace", id), false};
    // What is shipped was verified and measured: the program itself, not the trace that it was made from.
    const bool on_record = named.record && named.record->ok() &&
                           named.record->lowered_hash == candidate->lowered_hash &&
                           named.record->task() == task_key(workload_, *space_, threads_);
    const bool measured =
        on_record && is_measured(*candidate, workload_, *space_, arguments_.database, threads_);
    if (measured) {
      shipped.provenance += seconds_text(named.record->seconds);
      if (!named.record->verified_on.empty())
        shipped.provenance += fmt::format(", verified as its twin of {}", named.record->verified_on);
      return shipped;
    }
    shipped.measured_now = true;
    const Verified verified = measure(*candidate, shipped.kernel);
    const std::string time = seconds_text(verified.seconds);
    const std::string_view how = models_times(space_->target()) ? "modelled" : "measured";
    shipped.provenance += fmt::format("{}, verified and {} when it was built{}", time, how, verified.of_twin);
    if (!common_.json)
      fmt::print(
          output(), "{}: verified and {} now{}, {}\n",
          on_record ? "on record this program passed an earlier check alone" : "no record of this program",
          how, verified.of_twin, time);
    return shipped;
  }

  EnvironmentError does_not_compile(const std::string& why, const Candidate& candidate) const {
    return EnvironmentError(fmt::format("{} does not compile: {}", workload_.key,
                                        with_called_places(why, candidate.lowered.program)));
  }

  /// Throws NotRight.
  Verified measure(const Candidate& candidate, const CompiledKernel& kernel) {
    require_memory(workload_, arguments_.allow_memory);
    // What is verified is the code that is shipped, but where the target has twins verified in its place.
    std::optional<CandidateKernel> twin;
    if (twins_of(space_->target()) != nullptr) {
      auto code = CandidateCompiler(workload_, *space_).compile(candidate, "tunesmith_verified");
      if (!code) throw does_not_compile(code.error(), candidate);
      twin = std::move(*code);
    }
    MeasureOptions options;
    options.threads = arguments_.threads;
    options.time_out_seconds = arguments_.candidate_time_out;
    options.machine = machine_lock();
    const Workload* const instance = twin ? twin->instance.get() : nullptr;
    const MeasureRequest request{.kernel = twin ? &twin->kernel : &kernel, .instance = instance};
    const MeasureResult result =
        make_worker_runner(workload_, space_->target(), session_.worker_target(), options)
            ->run({&request, 1})
            .front();
    if (result.failure) {
      throw NotRight(fmt::format("the program is not shipped: {}, {}",
                                 failure_cause_name(result.failure->cause),
                                 with_called_places(result.failure->message, candidate.lowered.program)));
    }
    return {result.timing->min, instance != nullptr ? fmt::format(", as its twin of {}", instance->key) : ""};
  }

  void print(const Shipped& shipped, const LibraryFiles& files) const {
    if (common_.json) {
      fmt::print(output(), "{}\n",
                 nlohmann::json{{"workload", workload_.key},
                                {"library", files.library},
                                {"header", files.header},
                                {"others", files.others},
                                {"provenance", shipped.provenance},
                                {"measured_now", shipped.measured_now},
                                {"prepares", shipped.kernel.prepare.has_value()}}
                     .dump());
      return;
    }
    fmt::print(output(), "built {}\n      {}\n", files.library, files.header);
    for (const std::string& other : files.others) fmt::print(output(), "      {}\n", other);
    if (shipped.kernel.prepare)
      fmt::print(output(), "call {}_prepare once before {}: the header says how\n", name_, name_);
  }

  const Common& common_;
  const BuildArguments& arguments_;
  const Workload workload_;
  Session session_;
  const std::unique_ptr<Space> space_;
  const int threads_;
  const std::string name_;
};

}  // namespace

int run_build(const Common& common, const BuildArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Builder(common, arguments).run();
  return kDone;
}

}  // namespace tunesmith::cli
