// A fleet without machines: workers that look programs up in a recorded table and wait as long as each
// measurement took. A program that the table has not takes the row that its hash chooses.
//   table_workers TABLE COUNT [TIMES]   COUNT workers, until SIGTERM; they wait TIMES as long
//   table_workers TABLE COUNT 0 JOBS    they do not wait; JOBS questions are asked, and what each takes said
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "broker/fleet.h"
#include "broker/post.h"
#include "broker/station.h"
#include "tunesmith/evaluation/table.h"
#include "tunesmith/lower/version.h"
#include "tunesmith/measure/verifier_version.h"
#include "tunesmith/measuring/turns.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/target/target_identity.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBroken = 4;  // as the command ends where no broker answers

std::atomic<bool> g_ends = false;
std::atomic<int> g_code = 0;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class TableWorkers {
 public:
  TableWorkers(const Table& table, double times) : table_(table), times_(times) {
    worker_.name = "table";
    worker_.environment = table.environment;
    worker_.target = TargetIdentity{table.identity, "table", fmt::format("{}", kLoweringVersion), "",
                                    std::vector<ExtensionIdentity>{}}
                         .str();
    worker_.rule = "target llvm table";
    worker_.machine = table.device.description;
    worker_.threads = table.threads;
    worker_.identity = identity_of({0, worker_.target, worker_.threads, ""}, worker_.environment);
    worker_.quantities.insert(table.device.all().begin(), table.device.all().end());
    const LowerOptions& limits = table.limits;
    worker_.limits = {limits.vector_bits,         limits.vector_registers, limits.max_stack_bytes,
                      limits.max_expanded_stores, limits.prepare,          limits.parameters};
    for (const TableRow& row : table.rows) rows_.emplace(row.lowered_hash, &row);
  }

  const WorkerDescription& description() const { return worker_; }

  /// Until the process is told to end, or is refused.
  void work(const broker::Address& address) try {
    broker::Station station(address, {worker_.identity, [this] { return text_of(worker_); },
                                      [](const std::string& text) { fmt::print(stderr, "{}\n", text); }});
    constexpr double kLook = 0.2;
    while (!station.drained()) {
      if (g_ends) station.drain();
      if (const auto task = station.take(kLook)) station.answer(*task, "answer", text_of(answer(*task)));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    g_code = kBroken;
  }

 private:
  const TableRow& row_of(uint64_t hash) const {
    const auto found = rows_.find(hash);
    return found != rows_.end() ? *found->second : table_.rows[hash % table_.rows.size()];
  }

  void wait_for(double seconds) const {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds * times_));
  }

  Answer answer(const broker::Task& task) const {
    const broker::Message& message = task.delivery.message;
    if (message.type == "turns") {
      const Turns turns = parse_turns(message.body);
      std::vector<InterleavedTimes> times;
      for (const RecordedCandidate& one : turns.candidates) {
        const double seconds = seconds_of(row_of(one.lowered_hash)).value_or(1.0);
        times.push_back({std::vector<double>(static_cast<size_t>(turns.rounds), seconds), 0, {}});
        wait_for(seconds * turns.rounds);
      }
      if (turns.peak) times.push_back({{1.0}, 0, {}});
      return times;
    }
    return record_of(parse_job(message.body).candidate);
  }

  Record record_of(const RecordedCandidate& candidate) const {
    const TableRow& row = row_of(candidate.lowered_hash);
    wait_for(row.cost);
    Record record;
    record.id = make_id();
    record.workload = candidate.workload.text;
    record.workload_hash = candidate.workload.hash;
    record.target = candidate.target;
    record.threads = candidate.threads;
    record.device = candidate.device;
    record.run = make_id();
    record.environment = worker_.environment.hash();
    record.space = "table";
    record.trace = candidate.trace;
    record.trace_version = kTraceVersion;
    record.lowered_hash = candidate.lowered_hash;
    record.verifier = kVerifierVersion;
    record.failure = row.failure;
    if (const auto seconds = seconds_of(row); seconds && !row.failure) {
      record.timing = make_timing({*seconds});
      record.seconds = *seconds;
      record.verified_error = 0.0;
      record.disturbed = false;
    }
    record.time_ms = now_ms();
    return record;
  }

  const Table& table_;
  const double times_;
  WorkerDescription worker_;
  std::unordered_map<uint64_t, const TableRow*> rows_;
};

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Measures the time that jobs spend on their way through the broker, in rounds of 1,000 jobs.
void ask(const broker::Address& address, const TableWorkers& workers, const Table& table, int64_t jobs) {
  constexpr int64_t kRound = 1000;
  const WorkerDescription& worker = workers.description();
  Job job;
  job.candidate.workload = {table.workload_hash, table.workload, table.definition};
  job.candidate.target = worker.target;
  job.candidate.threads = worker.threads;
  job.candidate.trace_version = kTraceVersion;
  broker::Post post(address);
  broker::Post::Options options;
  options.identity = worker.identity;
  options.owner = "table_workers";
  const Clock::time_point begin = Clock::now();
  for (int64_t done = 0; done < jobs; done += kRound) {
    std::vector<broker::Question> questions;
    for (int64_t i = 0; i < kRound; ++i) {
      job.candidate.lowered_hash = static_cast<uint64_t>(done + i + 1);
      job.candidate.trace = table.rows[static_cast<size_t>(done + i) % table.rows.size()].trace;
      questions.push_back({"job", line_of(job), fmt::format("job-{}", done + i)});
    }
    for (const std::optional<broker::Reply>& reply : post.ask(questions, options)) {
      const Answer answer = parse_answer(reply.value().body);
      check_invariant(std::holds_alternative<Record>(answer), "a job is answered by a record");
    }
    constexpr int64_t kSaid = 10'000;
    if ((done + kRound) % kSaid == 0 || done == 0)
      fmt::print("{} jobs: {:.3f} ms a job, {:.1f} MiB\n", done + kRound,
                 1e3 * seconds_since(begin) / static_cast<double>(done + kRound), resident_mib());
    std::fflush(stdout);
  }
}

int run(const std::vector<std::string>& words) {
  const Table table = load_table(words.at(1));
  TableWorkers workers(table, words.size() > 3 ? std::stod(words[3]) : 1.0);
  const broker::Address address = broker::parse_address("", false);
  std::vector<std::thread> threads;
  for (int i = 0; i < std::stoi(words.at(2)); ++i) threads.emplace_back([&] { workers.work(address); });
  fmt::print("identity {}\n", workers.description().identity);
  std::fflush(stdout);
  if (words.size() > 4) {
    ask(address, workers, table, std::stoll(words[4]));
    g_ends = true;
  }
  for (std::thread& thread : threads) thread.join();
  return g_code;
}

}  // namespace
}  // namespace tunesmith

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { tunesmith::g_ends = true; });
  return tunesmith::run({argv, argv + argc});
}
