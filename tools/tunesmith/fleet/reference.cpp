#include "reference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/tuning/ranking.h>
#include <tunesmith/workload/library.h>

namespace tunesmith::cli {
namespace {

/// It is used without a schedule: every target has that program.
constexpr const char* kWorkload = "gmm:n=128,m=128,k=128";
constexpr double kDrift = 0.05;
constexpr int kRepeats = 10;
constexpr double kTimeOut = 60.0;

}  // namespace

Reference::Reference(const Space& space, const WorkerTarget& worker_target, MeasureOptions options,
                     std::chrono::duration<double> every, double usual_seconds,
                     std::function<void(const std::string&)> say)
    : workload_(WorkloadLibrary().load(kWorkload)),
      every_(every),
      say_(std::move(say)),
      usual_seconds_(usual_seconds) {
  options.time_out_seconds = kTimeOut;
  options.min_repeats = options.max_repeats = kRepeats;
  const auto candidate = space.materialise(workload_.program, Trace(), RandomStream(0));
  if (!candidate)
    throw EnvironmentError(
        fmt::format("the target rejects the reference program: {}", candidate.error().message));
  auto compiled = space.target().compile((*candidate)->lowered, "tunesmith_reference");
  if (!compiled)
    throw EnvironmentError(fmt::format("the reference program does not compile: {}", compiled.error()));
  kernel_ = *std::move(compiled);
  runner_ = make_worker_runner(workload_, space.target(), worker_target, options);
}

Reference::~Reference() = default;

bool Reference::apart(double one, double other) {
  return std::max(one, other) > (1.0 + kDrift) * std::min(one, other);
}

void Reference::look() {
  const auto now = std::chrono::steady_clock::now();
  if (timed_ && now - *timed_ < every_) return;
  std::optional<double> seconds = time();
  // A second timing distinguishes a short disturbance from drift of the machine.
  if (seconds && usual_seconds_ > 0.0 && apart(*seconds, usual_seconds_)) seconds = time();
  timed_ = std::chrono::steady_clock::now();
  if (seconds) seconds_ = *seconds;
  if (usual_seconds_ <= 0.0) usual_seconds_ = seconds_;
  const bool drifts = !seconds || apart(seconds_, usual_seconds_);
  if (drifts == std::exchange(drifted_, drifts)) return;
  constexpr const char* kMarked =
      "times are marked disturbed until it recovers: check for other processes, heat and the frequency "
      "governor";
  say_(!seconds ? fmt::format("the reference program cannot be timed ({}); {}", why_, kMarked)
       : drifts ? fmt::format("the reference program takes {:.2f} times its usual time; {}",
                              seconds_ / usual_seconds_, kMarked)
                : "the reference program takes its usual time");
}

std::optional<double> Reference::time() {
  const MeasureRequest request{&kernel_, 0.0, false};
  const MeasureResult result = runner_->run({&request, 1}).front();
  if (result.timing) return quantile_interval(result.timing->samples, kTimeQuantile).value;
  why_ = result.failure ? result.failure->message : "stopped";
  return std::nullopt;
}

}  // namespace tunesmith::cli
