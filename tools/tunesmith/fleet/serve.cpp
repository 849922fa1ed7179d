// `serve`: takes jobs from a broker, measures them here, and answers.
#include <atomic>

#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tuning/job_measurer.h>
#include <tunesmith/tuning/tuner.h>

#include "broker/fleet.h"
#include "broker/station.h"
#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "memory.h"
#include "output.h"
#include "progress/progress.h"
#include "reference.h"
#include "say.h"

namespace tunesmith::cli {
namespace {

constexpr double kLook = 0.2;  // seconds between checks of the flag

/// Also read by the thread that answers roll calls.
struct Counts {
  std::atomic<double> reference = 0.0;
  std::atomic<double> usual_reference = 0.0;
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> failed = 0;
  std::atomic<int64_t> disturbed = 0;
  std::atomic<int64_t> refused = 0;
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

WorkerDescription describe(const Space& space, int threads) {
  WorkerDescription worker = describe_machine(space, task_key({}, space, threads));
  worker.name = fmt::format("{}:{}", host_name(), getpid());
  return worker;
}

/// Measures messages one by one.
class Server {
 public:
  Server(JobMeasurer& measurer, const WorkerDescription& worker, Counts& counts)
      : measurer_(measurer), worker_(worker), counts_(counts) {}

  Answer answer(const broker::Task& task) {
    const broker::Message& message = task.delivery.message;
    try {
      if (task.delivery.too_large)
        throw UserError(fmt::format("message exceeds {} bytes", broker::kMaxMessageBytes));
      if (message.type == "turns") return times_of(parse_turns(message.body));
      if (message.type == "job") return record_of(parse_job(message.body));
      throw UserError(
          fmt::format("unknown message type '{}', expected job or turns", message.type.substr(0, 40)));
    } catch (const UserError& error) {
      ++counts_.refused;
      say(fmt::format("rejected a message ({}): {}", message.correlation.substr(0, 40), error.what()));
      return Refusal{error.what()};
    }
  }

 private:
  /// Refuses candidates of another target, number of threads or device: their times would belong to no
  /// machine.
  void require_own(const RecordedCandidate& candidate) const {
    if (candidate.target == worker_.target && candidate.threads == worker_.threads &&
        candidate.device == worker_.device)
      return;
    throw UserError(fmt::format("expected target '{}' with {} threads, found '{}' with {}", worker_.target,
                                worker_.threads, candidate.target, candidate.threads));
  }

  Answer record_of(const Job& job) {
    require_own(job.candidate);
    const JobResult result = measurer_.measure(job);
    ++counts_.done;
    if (!result.record) throw UserError(result.refusal);
    const Record& record = *result.record;
    if (record.failure) ++counts_.failed;
    if (record.disturbed.value_or(false)) ++counts_.disturbed;
    say(fmt::format("{}: {}", record.workload,
                    record.failure ? std::string(failure_cause_name(record.failure->cause))
                                   : seconds_text(record.seconds)));
    return record;
  }

  Answer times_of(const Turns& turns) {
    require_own(turns.candidates.front());
    auto times = measurer_.time_in_turn(turns);
    ++counts_.done;
    if (!times) throw UserError(times.error());
    say(fmt::format("{}: {} programs in turn", turns.candidates.front().workload.text,
                    turns.candidates.size()));
    return std::move(*times);
  }

  JobMeasurer& measurer_;
  const WorkerDescription& worker_;
  Counts& counts_;
};

void introduce(const WorkerDescription& worker, const Space& space, const broker::Address& address) {
  fmt::print(output(), "identity {}: '{}', {} threads; {}\n", worker.identity, worker.target, worker.threads,
             space.device().description);
  fmt::print(output(), "worker {} takes jobs from {}; Ctrl-C or SIGTERM stops it after its current jobs\n",
             worker.name, address.str());
  std::fflush(output());
}

/// Null for a target with a separate device: an unscheduled program would run there on one thread.
std::unique_ptr<Reference> make_reference(const Space& space, const WorkerTarget& worker_target, int threads,
                                          std::shared_ptr<MachineLock> machine,
                                          const ServeArguments& arguments) {
  if (space.target().separate_device() != nullptr) return nullptr;
  MeasureOptions options;
  options.threads = threads;
  options.machine = std::move(machine);
  constexpr double kMinute = 60.0;
  return std::make_unique<Reference>(space, worker_target, options,
                                     std::chrono::duration<double>(kMinute * arguments.reference_minutes),
                                     arguments.reference_seconds, say);
}

}  // namespace

int run_serve(const Common& common, const ServeArguments& arguments) {
  const broker::Address address = broker::parse_address(arguments.broker.url, arguments.broker.insecure);
  const std::atomic<bool>& ends = drain_on_interrupt();
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  RecordStore store = open_records(arguments.database);
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  const std::shared_ptr<MachineLock> machine = machine_lock();
  const std::unique_ptr<Reference> reference =
      make_reference(*space, session.worker_target(), threads, machine, arguments);
  JobMeasurer measurer(*space, session.worker_target(), store,
                       {threads, false, common.command_line, machine, nullptr,
                        [&](const Workload& workload) { require_memory(workload, arguments.allow_memory); },
                        [&] { return reference && reference->drifted(); }});
  WorkerDescription worker = describe(*space, threads);
  Counts counts;
  const auto tell = [&](const std::string& text) {
    if (!common.quiet) say(text);
  };
  const auto described = [&] {
    WorkerDescription now = worker;
    now.reference = counts.reference;
    now.usual_reference = counts.usual_reference;
    now.done = counts.done;
    now.failed = counts.failed;
    now.disturbed = counts.disturbed;
    now.refused = counts.refused;
    return text_of(now);
  };
  const auto look = [&] {
    if (!reference) return;
    reference->look();
    counts.reference = reference->seconds();
    counts.usual_reference = reference->usual_seconds();
  };
  look();
  try {
    broker::Station station(address, {worker.identity, described, tell});
    if (!common.quiet) introduce(worker, *space, address);
    Server server(measurer, worker, counts);
    while (!station.drained()) {
      if (ends) station.drain();
      if (const std::optional<broker::Task> task = station.take(kLook)) {
        look();
        const Answer answer = server.answer(*task);
        station.answer(*task, "answer", text_of(answer));
      }
    }
  } catch (const broker::Lost& lost) {
    throw EnvironmentError(fmt::format("the broker does not respond: {}", lost.what()));
  }
  measurer.end("drained");
  return kDone;
}

}  // namespace tunesmith::cli
