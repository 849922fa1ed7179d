#include "sketch_promise.h"

#include <map>
#include <span>

#include <gmock/gmock.h>

#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

class SketchPromiseTest : public testing::Test {
 protected:
  SketchPromiseTest() {
    // Sketches that differ in which loops are fused.
    for (size_t fused = 0; fused < 3; ++fused) {
      Schedule schedule(workload_.program);
      const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("C"));
      if (fused > 0) schedule.fuse(std::vector<LoopRV>{loops[fused - 1], loops[fused]});
      sketches_.push_back(std::move(schedule));
    }
  }

  Measured measured(const Schedule& sketch, std::optional<double> seconds) const {
    auto candidate = std::make_shared<Candidate>();
    candidate->trace = sketch.trace();
    Measured result;
    result.candidate = std::move(candidate);
    if (seconds) {
      result.timing = make_timing({*seconds});
    } else {
      result.failure = CandidateFailure{FailureCause::Crash, "it crashed"};
    }
    return result;
  }

  static void add(SketchPromise& promise, const Measured& result) { promise.add(std::span(&result, 1)); }

  Workload workload_ = WorkloadLibrary().load("gmm:n=8,m=8,k=8");
  std::vector<Schedule> sketches_;
};

TEST_F(SketchPromiseTest, ProgramsAreToldInPortionsOrAllAtOnce) {
  SketchPromise one_by_one(sketches_);
  SketchPromise at_once(sketches_);
  std::vector<Measured> results;
  for (int i = 0; i < 5; ++i) results.push_back(measured(sketches_[i % 2], 1e-3 + i * 1e-4));
  results.push_back(measured(sketches_[2], std::nullopt));
  for (const Measured& result : results) add(one_by_one, result);
  at_once.add(results);
  EXPECT_EQ(one_by_one.weights(), at_once.weights());
  EXPECT_LT(at_once.weights()[2], at_once.weights()[1]) << "whose only program failed";
}

TEST_F(SketchPromiseTest, AllAreAlikeBeforeAnythingIsKnown) {
  SketchPromise promise(sketches_);
  EXPECT_THAT(promise.weights(), testing::Each(1.0));
  add(promise, measured(sketches_[0], std::nullopt));
  EXPECT_THAT(promise.weights(), testing::Each(1.0)) << "that one failed says nothing of the others yet";
}

TEST_F(SketchPromiseTest, WhatGaveFastProgramsIsDrawnMoreOften) {
  SketchPromise promise(sketches_);
  for (int i = 0; i < 6; ++i) add(promise, measured(sketches_[0], 1e-3 + i * 1e-4));
  for (int i = 0; i < 6; ++i) add(promise, measured(sketches_[1], 4e-3));
  // Shares of the best speed: 1 and 1/4; their mean 5/8 counts as two programs of each.
  const double first = (6 + 2 * 0.625) / 8;
  const double second = (6 * 0.25 + 2 * 0.625) / 8;
  EXPECT_THAT(promise.weights(),
              testing::ElementsAre(testing::DoubleEq(first * first), testing::DoubleEq(second * second),
                                   testing::DoubleEq(0.625 * 0.625)));
  std::map<size_t, int> drawn;
  RandomStream random(1);
  for (int i = 0; i < 1000; ++i) ++drawn[promise.choose(random)];
  EXPECT_GT(drawn[0], drawn[2]);
  EXPECT_GT(drawn[2], drawn[1]);
  EXPECT_GT(drawn[1], 0) << "nothing is given up";
}

TEST_F(SketchPromiseTest, AProgramOfAnotherSpaceSaysNothing) {
  SketchPromise promise(std::span<const Schedule>(sketches_).first(2));
  add(promise, measured(sketches_[2], 1e-3));
  EXPECT_THAT(promise.weights(), testing::Each(1.0));
}

}  // namespace
}  // namespace tunesmith
