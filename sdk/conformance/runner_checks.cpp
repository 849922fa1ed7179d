// Checks of runners: a small task is measured where the plugin measures.
#include <array>
#include <atomic>

#include <fmt/format.h>

#include "checks.h"
#include "tunesmith/measuring/measuring_place.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith::conformance {
namespace of_runners {
namespace {

/// The unscheduled program, and a damaged copy: with wrong code, or a wrong expected hash.
struct Requests {
  CandidatePtr candidate;
  CompiledKernel right;
  CompiledKernel damaged;
};

class Task {
 public:
  explicit Task(const Subject& subject)
      : workload_(subject.workloads().front()),
        place_(subject.create<MeasuringPlace>()),
        space_(subject.company(), subject.registry(),
               place_->here() ? TargetPresence::Required : TargetPresence::NotRequired),
        target_{subject.company().target.id, subject.company().target.options, {}},
        on_(place_->measured_on(space_, 0)) {
    options_.threads = on_.threads;
    options_.stop = &stop_;
  }

  const MeasuredOn& on() const { return on_; }
  MeasuredOn asked_again() { return place_->measured_on(space_, 0); }
  void stop() { stop_ = true; }
  std::unique_ptr<Runner> runner() {
    return place_->make_runner({workload_, space_, target_, options_, "", nullptr});
  }

  Requests requests(const Runner& runner) const {
    auto made = space_.materialise(workload_.program, Trace(), RandomStream(0));
    check_invariant(made.has_value(), "the unscheduled program is a candidate");
    Requests requests{*made, {}, {}};
    const uint64_t hash = requests.candidate->lowered_hash;
    if (auto travelling = runner.as_candidate(requests.candidate->trace, hash)) {
      requests.right = *std::move(travelling);
      requests.damaged = *runner.as_candidate(requests.candidate->trace, hash + 1);
      return requests;
    }
    auto compiled = space_.target().compile(requests.candidate->lowered, "conformance");
    if (!compiled) throw EnvironmentError(fmt::format("the target compiles nothing: {}", compiled.error()));
    requests.right = *std::move(compiled);
    requests.damaged = requests.right;
    requests.damaged.object = "no code";
    return requests;
  }

 private:
  const Workload& workload_;
  std::shared_ptr<MeasuringPlace> place_;
  Space space_;
  const WorkerTarget target_;
  std::atomic<bool> stop_{false};
  MeasureOptions options_;
  MeasuredOn on_;
};

/// Runs the check, or reports it as unsupported if no machine measures, as without a broker.
template <typename Body>
Verdict measured(const Subject& subject, const Body& body) {
  std::unique_ptr<Task> task;
  try {
    task = std::make_unique<Task>(subject);
  } catch (const EnvironmentError& error) {
    if (std::string_view(error.what()).find("[P12]") != std::string_view::npos) throw;
    return unsupported(error.what());
  }
  return body(*task);
}

std::string fault_of(const MeasureResult& result) {
  if (result.timing.has_value() == result.failure.has_value())
    return result.timing ? "has a time and a failure" : "has neither a time nor a failure";
  return "";
}

/// Correct and damaged programs get the right answers in both orders.
Verdict check_contract(const Subject& subject) {
  return measured(subject, [](Task& task) {
    const auto runner = task.runner();
    const Requests requests = task.requests(*runner);
    if (!runner->run({}).empty()) return failed("it answers where nothing is asked");
    for (const bool right_first : {true, false}) {
      const MeasureRequest right{.kernel = &requests.right};
      const MeasureRequest damaged{.kernel = &requests.damaged};
      const std::array asked = right_first ? std::array{right, damaged} : std::array{damaged, right};
      const std::vector<MeasureResult> results = runner->run(asked);
      if (results.size() != 2) return failed(fmt::format("it answered {} of 2 requests", results.size()));
      for (const MeasureResult& one : results) {
        if (const std::string fault = fault_of(one); !fault.empty())
          return failed(fmt::format("an answer {}", fault));
      }
      const MeasureResult& of_right = results[right_first ? 0 : 1];
      if (of_right.failure)
        return failed(fmt::format("a right program failed: {}: {}",
                                  failure_cause_name(of_right.failure->cause), of_right.failure->message));
      if (!results[right_first ? 1 : 0].failure) return failed("a damaged program has a time");
    }
    return passed();
  });
}

/// The place of measuring is constant and can be recorded.
Verdict check_place(const Subject& subject) {
  return measured(subject, [](Task& task) {
    if (task.on().threads < 1) return failed(fmt::format("it measures with {} threads", task.on().threads));
    if (Environment::parse(task.on().environment.text()) != task.on().environment)
      return failed("its environment cannot be recorded");
    const MeasuredOn again = task.asked_again();
    return again.environment == task.on().environment && again.threads == task.on().threads
               ? passed()
               : failed("asked again, it measures elsewhere");
  });
}

/// After a stop, all requests are answered with failures of the worker.
Verdict check_stop(const Subject& subject) {
  return measured(subject, [](Task& task) {
    const auto runner = task.runner();
    const Requests requests = task.requests(*runner);
    task.stop();
    const std::array asked = {MeasureRequest{.kernel = &requests.right},
                              MeasureRequest{.kernel = &requests.right}};
    const std::vector<MeasureResult> results = runner->run(asked);
    if (results.size() != 2)
      return failed(fmt::format("stopped, it answered {} of 2 requests", results.size()));
    for (const MeasureResult& one : results) {
      if (!one.failure || one.failure->cause != FailureCause::WorkerLost)
        return failed("stopped, its answer is not the failure worker_lost");
    }
    return passed();
  });
}

/// Two programs timed in turn have one sample for each round.
Verdict check_in_turn(const Subject& subject) {
  return measured(subject, [](Task& task) {
    const auto runner = task.runner();
    const Requests requests = task.requests(*runner);
    const MeasureRequest verified{.kernel = &requests.right};
    runner->run({&verified, 1});
    const std::array<const CompiledKernel*, 2> kernels = {&requests.right, &requests.right};
    const std::vector<InterleavedTimes> times = runner->interleave(kernels, {.rounds = 4});
    if (times.size() != 2) return failed(fmt::format("of 2 programs in turn it answers {}", times.size()));
    for (const InterleavedTimes& one : times) {
      if (one.samples.size() != 4)
        return failed(fmt::format("of 4 rounds it has {} samples{}", one.samples.size(),
                                  one.failure ? ": " + one.failure->message : ""));
    }
    return passed();
  });
}

constexpr Check kChecks[] = {
    {"contract", "P31", &check_contract},
    {"place", "P31", &check_place},
    {"stop", "P31", &check_stop},
    {"in_turn", "P31", &check_in_turn},
};

}  // namespace
}  // namespace of_runners

std::span<const Check> runner_checks() { return of_runners::kChecks; }

}  // namespace tunesmith::conformance
