// Measures on other machines: sends jobs to a broker's queue, one queue per machine identity, and takes
// answers from whichever worker took the job.
#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/measuring/measuring_place.h>
#include <tunesmith/measuring/turns.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/records/recorded_candidate.h>
#include <tunesmith/schema/json_text.h>
#include <tunesmith/support/error.h>
#include <tunesmith/trace/trace.h>

#include "broker/fleet.h"
#include "broker/post.h"

namespace {

using namespace tunesmith;
using broker::Question;
using broker::Reply;

constexpr const char* kJob = "job";
constexpr const char* kTurns = "turns";

JobOptions job_options(const MeasureOptions& options) {
  return {options.time_out_seconds, options.memory_limit_bytes, options.min_repeats, options.max_repeats,
          options.min_total_seconds};
}

CandidateFailure lost(std::string why) { return {FailureCause::WorkerLost, std::move(why)}; }

MeasureResult result_of(const Record& record) {
  MeasureResult result;
  result.timing = record.timing;
  result.disturbed = record.disturbed;
  result.verified_error = record.verified_error.value_or(0.0);
  result.failure = record.failure;
  result.verified_on = record.verified_on;
  return result;
}

MeasureResult result_of(const std::optional<Reply>& reply) {
  MeasureResult result;
  if (!reply) {
    result.failure = lost("it was stopped");
  } else if (reply->dead) {
    result.failure = lost("three workers died while measuring it");
  } else {
    const Answer answer = parse_answer(reply->body);
    if (const auto* record = std::get_if<Record>(&answer)) return result_of(*record);
    result.failure = lost(std::get<Refusal>(answer).why);
  }
  return result;
}

class QueueRunner final : public Runner {
 public:
  QueueRunner(const broker::Address& address, const RunnerTask& task, const WorkerDescription& worker,
              std::chrono::seconds resend)
      : post_(address),
        options_(task.options),
        common_{{task.workload.hash, task.workload.key, task.workload.definition},
                worker.target,
                worker.threads,
                worker.device,
                "",
                kTraceVersion,
                0} {
    post_options_.identity = worker.identity;
    post_options_.owner = fmt::format("{}\n{:016x}", task.owner, task.workload.hash);
    post_options_.stop = options_.stop;
    post_options_.say = task.say;
    post_options_.resend = resend;
    post_options_.fault = [this](const Question& question, const Reply& reply) {
      return fault_of(question, reply);
    };
  }

  std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const override {
    RecordedCandidate candidate = common_;
    candidate.trace = trace.str();
    candidate.lowered_hash = lowered_hash;
    CompiledKernel travelling;
    travelling.object = line_of(candidate);
    travelling.symbol = kJob;
    return travelling;
  }

  /// Sends whole rounds, which all present workers share.
  size_t at_once() const override { return std::numeric_limits<size_t>::max(); }

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<Question> questions;
    for (const MeasureRequest& request : requests) {
      Job job{parse_candidate(request.kernel->object), job_options(options_)};
      std::string correlation = correlation_of(kJob, line_of(job));
      job.limit_seconds = request.limit_seconds;
      questions.push_back({kJob, line_of(job), std::move(correlation)});
    }
    std::vector<MeasureResult> results;
    for (const std::optional<Reply>& reply : post_.ask(questions, post_options_))
      results.push_back(result_of(reply));
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    Turns turns;
    turns.options = job_options(options_);
    turns.rounds = options.rounds;
    turns.budget_seconds = options.budget_seconds;
    turns.min_rounds = options.min_rounds;
    turns.peak = options.yardstick != nullptr;
    std::vector<size_t> places;  // of each kernel in the answer
    for (const CompiledKernel* kernel : kernels) {
      places.push_back(turns.candidates.size());
      if (kernel != options.yardstick) turns.candidates.push_back(parse_candidate(kernel->object));
    }
    const std::string body = text_of(turns);
    const Question question{kTurns, body, correlation_of(kTurns, body)};
    const std::optional<Reply> reply = post_.ask({&question, 1}, post_options_).front();
    std::vector<InterleavedTimes> times(kernels.size());
    std::string why = "it was stopped";
    if (reply && reply->dead) why = "three workers died while timing it in turn";
    if (reply && !reply->dead) {
      const Answer answer = parse_answer(reply->body);
      if (const auto* in_turn = std::get_if<std::vector<InterleavedTimes>>(&answer)) {
        for (size_t i = 0; i < kernels.size(); ++i)
          times[i] = kernels[i] == options.yardstick ? in_turn->back() : (*in_turn)[places[i]];
        return times;
      }
      why = std::get<Refusal>(answer).why;
    }
    for (InterleavedTimes& one : times) one.failure = lost(why);
    return times;
  }

 private:
  static std::string correlation_of(const char* type, const std::string& body) {
    return fmt::format("{}-{}", type, json_checksum(body));
  }

  std::string fault_of(const Question& question, const Reply& reply) const {
    if (reply.dead) return "";
    try {
      const Answer answer = parse_answer(reply.body);
      if (std::holds_alternative<Refusal>(answer)) return "";
      if (question.type == kTurns) {
        const Turns turns = parse_turns(question.body);
        const auto* times = std::get_if<std::vector<InterleavedTimes>>(&answer);
        const size_t wanted = turns.candidates.size() + (turns.peak ? 1 : 0);
        return times != nullptr && times->size() == wanted ? "" : "its answer lacks the requested times";
      }
      const auto* record = std::get_if<Record>(&answer);
      const RecordedCandidate asked = parse_job(question.body).candidate;
      const bool fits = record != nullptr && record->lowered_hash == asked.lowered_hash &&
                        record->target == asked.target && record->threads == asked.threads;
      return fits ? "" : "its answer is of another program";
    } catch (const UserError& error) {
      return error.what();
    }
  }

  broker::Post post_;
  const MeasureOptions options_;
  const RecordedCandidate common_;
  broker::Post::Options post_options_;
};

class Fleet final : public MeasuringPlace {
 public:
  explicit Fleet(const Options& options)
      : url_(options.get_string("broker")),
        identity_(options.get_string("identity")),
        insecure_(options.get_bool("insecure")),
        resend_(options.get_int("resend_seconds")),
        rounds_(static_cast<size_t>(options.get_int("rounds"))) {}

  bool here() const override { return false; }

  MeasuredOn measured_on(const Space& space, int threads) override {
    const std::string target = space.task_target().str();
    if (worker_.target != target || (threads != 0 && worker_.threads != threads))
      choose(space, target, threads);
    MeasuredOn on{common_environment(worker_.environment), worker_.threads};
    if (worker_.target != target) on.machine = worker_;
    return on;
  }

  std::unique_ptr<Runner> make_runner(const RunnerTask& task) override {
    if (worker_.identity.empty()) throw EnvironmentError("it was not asked where it measures");
    return std::make_unique<QueueRunner>(broker::parse_address(url_, insecure_), task, worker_, resend_);
  }

  size_t rounds_at_once() const override { return rounds_; }

 private:
  void choose(const Space& space, const std::string& target, int threads) {
    const broker::Address address = broker::parse_address(url_, insecure_);
    std::vector<WorkerDescription> all, fitting;
    constexpr int kCalls = 4;  // a busy machine answers late
    for (int call = 0; fitting.empty() && call < kCalls; ++call) {
      all = call_the_roll(address);
      fitting = fitting_of(all, space, threads);
    }
    if (fitting.empty())
      throw EnvironmentError(fmt::format(
          "nobody at {} measures for '{}'{}; there {}; remedy: tunesmith serve, with the same space",
          address.str(), target, threads == 0 ? "" : fmt::format(" with {} threads", threads),
          names_of(all)));
    if (fitting.front().identity != fitting.back().identity)
      throw EnvironmentError(
          fmt::format("several machine identities measure for it: {}; remedy: choose by --threads, or by the "
                      "runner's option identity",
                      names_of(fitting)));
    worker_ = fitting.front();
  }

  /// The workers with the space's own target; if there are none, those whose target the space has on other
  /// machines, or those with the named identity.
  std::vector<WorkerDescription> fitting_of(const std::vector<WorkerDescription>& all, const Space& space,
                                            int threads) const {
    const std::string target = space.task_target().str();
    const std::string rule = rule_of_target(space);
    const std::string kind = rule.substr(0, rule.find(' ', rule.find(' ') + 1));
    std::vector<WorkerDescription> own, like_it;
    for (const WorkerDescription& worker : all) {
      if ((threads != 0 && worker.threads != threads) || !worker.identity.starts_with(identity_)) continue;
      if (worker.target == target) own.push_back(worker);
      const bool named = !identity_.empty() && (worker.rule == kind || worker.rule.starts_with(kind + ' '));
      if (worker.rule == rule || named) like_it.push_back(worker);
    }
    return own.empty() ? like_it : own;
  }

  static std::vector<WorkerDescription> call_the_roll(const broker::Address& address) {
    constexpr std::chrono::milliseconds kAnswerTime{1500};
    try {
      broker::Connection connection(address, "tunesmith roll call");
      return broker::call_the_roll(connection, kAnswerTime);
    } catch (const broker::Lost& lost) {
      throw EnvironmentError(fmt::format("the broker does not respond: {}", lost.what()));
    }
  }

  static std::string names_of(const std::vector<WorkerDescription>& workers) {
    if (workers.empty()) return "is nobody";
    std::set<std::string> names;
    for (const WorkerDescription& worker : workers)
      names.insert(fmt::format("{} ('{}', {} threads)", worker.identity, worker.target, worker.threads));
    return fmt::format("are {}", fmt::join(names, ", "));
  }

  const std::string url_;
  const std::string identity_;
  const bool insecure_;
  const std::chrono::seconds resend_;
  const size_t rounds_;
  WorkerDescription worker_;  // one of the chosen identity's workers, after choose()
};

}  // namespace

TUNESMITH_PLUGIN(
    Fleet, PluginKind::Runner, "amqp", "1.0.0", "measures on remote workers through a broker",
    OptionSpec::string("broker", "",
                       "amqps://USER:PASSWORD@HOST, or file:PATH; empty: the variable TUNESMITH_BROKER"),
    OptionSpec::string("identity", "", "prefix of the identity to measure on, if several match"),
    OptionSpec::integer("rounds", 8, 1, 64,
                        "number of tasks whose rounds run concurrently; candidates depend on it"),
    OptionSpec::integer("resend_seconds", 300, 1, 86400,
                        "time without an answer after which jobs that workers hold are sent again"),
    OptionSpec::boolean("insecure", false, "allow an unencrypted connection"));
