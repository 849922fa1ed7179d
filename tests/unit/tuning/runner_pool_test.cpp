#include "runner_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;

/// Its answers contain its number.
class NumberedRunner final : public Runner {
 public:
  NumberedRunner(size_t number, int& alive) : number_(number), alive_(alive) { ++alive_; }
  ~NumberedRunner() override { --alive_; }
  std::vector<MeasureResult> run(std::span<const MeasureRequest> /*requests*/) override {
    return std::vector<MeasureResult>(number_);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> /*kernels*/,
                                           const InterleaveOptions& /*options*/) override {
    return std::vector<InterleavedTimes>(number_);
  }

 private:
  const size_t number_;
  int& alive_;
};

class RunnerPoolTest : public testing::Test {
 protected:
  int alive_ = 0;
  std::vector<size_t> made_;
  Relay relay_{1};
  RunnerPool pool_{[this](size_t task) {
                     made_.push_back(task);
                     return std::make_unique<NumberedRunner>(task, alive_);
                   },
                   {1.0, 1.0, 1.0, 5.0},
                   2.0,
                   relay_};
};

TEST_F(RunnerPoolTest, MakesARunnerWhenItIsUsed) {
  Runner& second = pool_.of(1);
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(second.run({}).size(), 1u);
  EXPECT_EQ(second.interleave({}, {}).size(), 1u);
  EXPECT_THAT(made_, ElementsAre(1));
}

TEST_F(RunnerPoolTest, EndsTheOneThatWasNotUsedForLongest) {
  for (const size_t task : {0, 1, 0, 2}) EXPECT_EQ(pool_.of(task).run({}).size(), task);
  EXPECT_EQ(pool_.kept(), 2u);
  EXPECT_EQ(alive_, 2);
  pool_.of(0).run({});
  EXPECT_THAT(made_, ElementsAre(0, 1, 2));
  pool_.of(1).run({});
  EXPECT_THAT(made_, ElementsAre(0, 1, 2, 1));
}

TEST_F(RunnerPoolTest, OneThatIsLargerThanTheLimitIsAlone) {
  pool_.of(0).run({});
  pool_.of(3).run({});
  EXPECT_EQ(alive_, 1);
  pool_.of(0).run({});
  EXPECT_EQ(alive_, 1);
  EXPECT_THAT(made_, ElementsAre(0, 3, 0));
}

}  // namespace
}  // namespace tunesmith
