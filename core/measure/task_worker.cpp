#include "measure/task_worker.h"

#include <future>
#include <utility>

#include <fmt/format.h>

#include "measure/data_sets.h"
#include "measure/message_parts.h"
#include "measure/reference.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using nlohmann::json;

constexpr double kTaskTimeOut = 300.0;  // the reference is computed plainly, once
constexpr int kStartAttempts = 3;
// The reference runs a few times, once for each draw; a candidate runs at least as often.
constexpr double kReferenceRuns = 3.0;

}  // namespace

TaskWorker::TaskWorker(const Workload& workload, Target& target, const WorkerTarget& worker_target,
                       const MeasureOptions& options)
    : program_(workload.program.clone()),
      key_(workload.key),
      target_(target),
      worker_target_(worker_target),
      options_(options),
      may_be_slow_(target.verifies_twins()) {}

void TaskWorker::prepare() {
  if (!task_.header.empty()) return;
  using Compiled = tl::expected<CompiledKernel, std::string>;
  std::vector<std::future<Compiled>> compiled;
  for (const DataKind data : kDataKinds) {
    compiled.push_back(std::async(std::launch::async, [this, data] {
      const LoweredProgram reference = lower_for(target_, in_fast_order(reference_program(program_, data)));
      return target_.compile_reference(reference, "tunesmith_reference");
    }));
  }
  json references = json::array();
  std::vector<std::string> objects;
  for (size_t i = 0; i < compiled.size(); ++i) {
    const Compiled reference = compiled[i].get();
    if (!reference)
      throw EnvironmentError(
          fmt::format("the reference of {} does not compile: {}", key_, reference.error()));
    json header = kernel_header(*reference);
    header["has_bound"] = has_bound(program_, kDataKinds[i]);
    references.push_back(header);
    objects.push_back(reference->object);
  }

  json buffers = json::array();
  const auto add = [&](const Buffer& buffer, bool output) {
    buffers.push_back({{"name", buffer->name},
                       {"dtype", buffer->dtype.str()},
                       {"shape", buffer->shape},
                       {"output", output}});
  };
  for (const Buffer& input : program_.inputs) add(input, false);
  for (const Buffer& output : program_.outputs) add(output, true);
  const LongestReduction longest = longest_reduction(program_);
  task_.attachments = std::move(objects);
  task_.header = {{"type", "task"},
                  {"target", worker_target_.id},
                  {"options", options_json(worker_target_.options)},
                  {"plugin_paths", worker_target_.plugin_paths},
                  {"lock_file", worker_target_.lock_file},
                  {"threads", options_.threads},
                  {"data_seed", options_.data_seed},
                  {"most_terms", longest.terms},
                  {"elements", longest.elements},
                  {"exponentiates_below_maximum", exponentiates_below_maximum(program_)},
                  {"min_repeats", options_.min_repeats},
                  {"max_repeats", options_.max_repeats},
                  {"min_total_seconds", options_.min_total_seconds},
                  {"racing_factor", options_.racing_factor},
                  {"memory_limit_bytes", options_.memory_limit_bytes},
                  {"buffers", buffers},
                  {"references", references}};
}

WorkerProcess::Reply TaskWorker::ask(const Message& question, double time_out_seconds) {
  WorkerProcess::Reply reply;
  reply.failure = {FailureCause::WorkerLost, "stopped by the user"};
  if (stopped() || (!worker_ && !start(reply.failure))) return reply;
  reply = worker_->ask(question, time_out_seconds, options_.stop);
  if (reply.message && reply.message->header.contains("error")) {
    throw EnvironmentError("the worker: " + reply.message->header.at("error").get<std::string>());
  }
  // One that has lost its device ends by itself.
  if (!reply.message || reply.message->header.contains("device_lost")) worker_.reset();
  return reply;
}

bool TaskWorker::start(CandidateFailure& failure) {
  if (too_slow_) {
    failure = *too_slow_;
    return false;
  }
  prepare();
  const double time_out = may_be_slow_ ? kReferenceRuns * options_.time_out_seconds : kTaskTimeOut;
  WorkerProcess::Reply reply;
  for (int attempt = 0; attempt < kStartAttempts && !reply.message; ++attempt) {
    worker_ = std::make_unique<WorkerProcess>();
    reply = worker_->ask(task_, time_out, options_.stop);
    if (reply.message) break;
    worker_.reset();
    if (stopped()) return false;
    if (reply.failure.cause != FailureCause::WorkerLost) break;  // else somebody killed it
  }
  if (!reply.message && may_be_slow_ && reply.failure.cause == FailureCause::TimeOut) {
    too_slow_ = {FailureCause::TimeOut,
                 fmt::format("the reference of {} was not done in {} s, and the program has no smaller twin",
                             key_, time_out)};
    failure = *too_slow_;
    return false;
  }
  if (!reply.message) {
    throw EnvironmentError(fmt::format("the worker did not take the task: {}: {}",
                                       failure_cause_name(reply.failure.cause), reply.failure.message));
  }
  const json& answer = reply.message->header;
  if (answer.contains("user_error")) throw UserError(answer.at("user_error").get<std::string>());
  if (answer.contains("error")) {
    throw EnvironmentError("the worker: " + answer.at("error").get<std::string>());
  }
  // A worker that takes over gets the data and the results with the task.
  if (!task_.header.contains("fills")) {
    task_.header["fills"] = answer.at("fills");
    for (std::string& result : reply.message->attachments) task_.attachments.push_back(std::move(result));
  }
  return true;
}

}  // namespace tunesmith
