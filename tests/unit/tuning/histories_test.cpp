// After any history, a store can be used for tuning, and its best program is the fastest that was found.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

/// A kernel's time follows from its code; a run's machine slows all of them, and each sample is disturbed a
/// little.
class NoisyRunner final : public Runner {
 public:
  NoisyRunner(std::mt19937& random, double slower) : random_(random), slower_(slower) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results(requests.size());
    for (size_t i = 0; i < requests.size(); ++i)
      results[i].timing = make_timing({sample(*requests[i].kernel), sample(*requests[i].kernel)});
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times(kernels.size());
    for (int round = 0; round < options.rounds; ++round) {
      for (size_t i = 0; i < kernels.size(); ++i) times[i].samples.push_back(sample(*kernels[i]));
    }
    return times;
  }

 private:
  double sample(const CompiledKernel& kernel) {
    const double seconds = 1e-6 * std::pow(1.0005, static_cast<double>(hash_bytes(kernel.object) % 10'000));
    return seconds * slower_ * std::uniform_real_distribution<>(1.0, 1.02)(random_);
  }

  std::mt19937& random_;
  double slower_;
};

class Histories : public TunerTest {
 protected:
  Histories()
      : space_(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu-random"), registry_,
               target_) {
    for (const char* text : {"gmm:n=8,m=8,k=4", "gmm:n=8,m=16,k=4"})
      tasks_.push_back({WorkloadLibrary().load(text)});
    options_.batch = 4;
  }

  const Space space_;
  std::vector<Workload> tasks_;
};

TEST_F(Histories, TheBestIsNeverLost) {
  for (unsigned history = 0; history < 5; ++history) {
    std::mt19937 random(history);
    const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
    const Workload& workload = tasks_[history % tasks_.size()];
    RecordStore store(folder_ / fmt::format("{}.db", history));
    // A search without a ranking is not compared with measurements on a machine of another speed.
    const bool interrupted = history % 2 == 0;
    std::map<uint64_t, double> known;  // seconds on a quiet machine, by lowered hash
    for (int run = 0; run < 4; ++run) {
      options_.trials = draw(0, 2) == 0 ? draw(1, 3) : draw(4, 16);
      options_.seed = static_cast<uint64_t>(draw(1, 3));
      options_.resume = draw(0, 1) == 0;
      const int stopped_after = interrupted && draw(0, 2) == 0 ? draw(1, 10) : 1000;
      const double slower = !interrupted && draw(0, 2) == 0 ? 1.5 : 1.0;
      std::atomic<bool> stop = false;
      int measured = 0;
      TuneHooks hooks;
      hooks.stop = &stop;
      hooks.recorded = [&](const Record& record) {
        known.emplace(record.lowered_hash, record.seconds / slower);
        stop = ++measured >= stopped_after;
      };
      NoisyRunner runner(random, slower);
      const TuneResult result = tune(workload, space_, store, runner, environment_, options_, hooks);
      const auto fastest = std::ranges::min_element(known, {}, [](const auto& one) { return one.second; });
      const Record best = store.find(result.best_id).value();
      EXPECT_LE(known.at(best.lowered_hash), 1.05 * fastest->second)
          << "history " << history << " run " << run;
      EXPECT_TRUE(result.dropped.empty());
    }
  }
}

// In a damaged or forged store, the user's own definition replaces the recorded one.
TEST_F(TunerTest, ADefinitionOnRecordThatIsNotTheWorkloadsIsMended) {
  options_.trials = 4;
  const Workload tuned = workload();
  const std::string other = WorkloadLibrary().load("softmax:m=64,n=512").definition;
  for (const std::string& definition : {tuned.definition.substr(0, tuned.definition.size() / 2), other}) {
    const std::string name = definition == other ? "forged.db" : "damaged.db";
    RecordStore(folder_ / name).add_workload({tuned.hash, tuned.key, definition});
    ReplayingRunner runner;
    EXPECT_NE(tune_into(name, runner).best_id, "");
    EXPECT_EQ(RecordStore(folder_ / name).workload(tuned.hash, tuned.key)->definition, tuned.definition);
  }
}

}  // namespace
}  // namespace tunesmith
