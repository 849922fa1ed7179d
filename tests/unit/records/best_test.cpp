// The rule that orders a task's programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>

#include "unit/records/store_fixture.h"

namespace tunesmith {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

class BestTest : public StoreFixture {
 protected:
  BestTest() : store_(path("a.db")) { prepare(store_); }

  /// Each number is a different program.
  static Record searched(const std::string& id, uint64_t program, std::vector<double> samples) {
    return with_program(success(id, std::move(samples)), program);
  }
  static Record ranked(const std::string& id, uint64_t program, double seconds, int ranking = 1) {
    Record record = searched(id, program, {seconds});
    record.kind = MeasurementKind::Ranking;
    record.ranking = ranking;
    record.verified_error.reset();
    record.time_ms += ranking;
    return record;
  }
  static TaskKey task() { return success("any", {1.0}).task(); }

  std::vector<std::string> best(const BestQuery& query, size_t n = 10) const {
    std::vector<std::string> ids;
    for (const Record& record : store_.best(query, n)) ids.push_back(record.id);
    return ids;
  }
  std::vector<std::string> best() const { return best({task(), environment().machine()}); }

  RecordStore store_;
};

TEST_F(BestTest, WithoutARankingTheLeastTimesDecide) {
  store_.add(searched("slow", 1, {4e-3}));
  store_.add(searched("disturbed", 2, {1e-3, 3e-3, 3e-3}));
  store_.add(searched("fast", 3, {2e-3, 2e-3, 2e-3}));
  store_.add(with_program(failure("failed", FailureCause::WrongResult, ""), 4));
  store_.add(searched("tie", 5, {2e-3}));
  EXPECT_THAT(best(), ElementsAre("disturbed", "fast", "tie", "slow"));
  EXPECT_THAT(best({task(), environment().machine()}, 2), ElementsAre("disturbed", "fast"));
}

// A lucky single run must not outlive a careful measurement of the same program.
TEST_F(BestTest, AProgramCountsByItsMostCarefulMeasurement) {
  store_.add(searched("lucky", 1, {1e-3}));
  store_.add(searched("careful", 1, {3e-3, 3e-3, 3e-3}));
  store_.add(searched("again", 1, {4e-3, 4e-3, 4e-3}));
  Record disturbed = searched("disturbed", 1, {9e-3, 9e-3, 9e-3, 9e-3});
  disturbed.disturbed = true;
  store_.add(disturbed);
  store_.add(searched("other", 2, {2e-3}));
  EXPECT_THAT(best(), ElementsAre("other", "again"));
}

TEST_F(BestTest, TheLatestRankingOfTheBestDecidesBeforeTheSearch) {
  store_.add(searched("s1", 1, {1e-3}));
  store_.add(searched("s2", 2, {2e-3}));
  store_.add(searched("s3", 3, {3e-3}));
  store_.add(ranked("r1", 1, 5e-3, 1));
  store_.add(ranked("r2", 2, 9e-3, 1));
  EXPECT_THAT(best(), ElementsAre("r1", "r2", "s3"));
  store_.add(ranked("r1b", 1, 8e-3, 2));
  store_.add(ranked("r3b", 3, 7e-3, 2));
  EXPECT_THAT(best(), ElementsAre("r3b", "r1b", "r2")) << "an older ranking is not compared with a later one";
}

TEST_F(BestTest, ItIsKnownWhetherTheBestWasCompared) {
  const auto never = [&] { return store_.never_compared({task(), environment().machine(), {}}); };
  EXPECT_FALSE(never()) << "nothing is on record";
  store_.add(searched("s1", 1, {2e-3}));
  EXPECT_FALSE(never()) << "it is alone";
  store_.add(searched("s2", 2, {3e-3}));
  EXPECT_TRUE(never());
  store_.add(ranked("r1", 1, 2e-3, 1));
  EXPECT_FALSE(never()) << "the other was measured before, and was slower";
  store_.add(searched("slow", 3, {2.3e-3}));
  EXPECT_FALSE(never());
  Record near = searched("near", 4, {2.1e-3});
  near.time_ms = 1;  // "since" is by the order of insertion: clocks go wrong
  store_.add(near);
  EXPECT_TRUE(never()) << "a few samples may have been unlucky";
}

// A search found it and was killed; the run after it ranked the earlier best again, and not this.
TEST_F(BestTest, WhatALaterRankingLeftOutWasNeverComparedWithIt) {
  const auto never = [&] { return store_.never_compared({task(), environment().machine(), {}}); };
  store_.add(ranked("r1", 1, 2e-3, 1));
  store_.add(searched("found", 2, {1e-3}));
  store_.add(searched("near", 3, {1.9e-3}));
  store_.add(ranked("r1b", 1, 2e-3, 2));
  EXPECT_EQ(best().front(), "r1b");
  EXPECT_TRUE(never());
  store_.add(ranked("r1c", 1, 2e-3, 3));
  store_.add(ranked("r2c", 2, 3e-3, 3));
  EXPECT_EQ(best().front(), "r1c");
  EXPECT_FALSE(never()) << "nobody ranks again for a few per cent";
}

TEST_F(BestTest, ARankingWithoutTheBestHidesItOnlyIfItFoundAFasterOne) {
  store_.add(ranked("r1", 1, 1e-3, 1));
  store_.add(ranked("few", 2, 6e-2, 2));
  EXPECT_THAT(best(), ElementsAre("r1", "few"));
  store_.add(ranked("again", 1, 3e-3, 3));
  store_.add(ranked("beaten", 2, 4e-3, 3));
  EXPECT_THAT(best(), ElementsAre("again", "beaten")) << "the machine is slower now";
  store_.add(ranked("faster", 3, 2e-3, 4));
  EXPECT_THAT(best(), ElementsAre("faster", "again", "beaten"));
}

// A run with a wrong clock must not decide for a year.
TEST_F(BestTest, RankingsFollowInTheOrderOfTheStoreWhateverTheClockSays) {
  Record ahead = ranked("ahead", 1, 2e-3, 1);
  ahead.time_ms += 31'536'000'000;
  store_.add(ahead);
  store_.add(ranked("r1", 1, 4e-3, 2));
  store_.add(ranked("r2", 2, 3e-3, 2));
  EXPECT_THAT(best(), ElementsAre("r2", "r1"));
}

TEST_F(BestTest, WhatWasFoundSinceLeadsWhereTheBestWasNeverAsFast) {
  store_.add(searched("s1", 1, {2e-3}));
  store_.add(searched("before", 2, {1e-3}));
  store_.add(ranked("r1", 1, 3e-3));
  EXPECT_THAT(best(), ElementsAre("r1", "before")) << "what the ranking let go was lucky";
  store_.add(searched("luck", 3, {2.5e-3}));
  store_.add(searched("interrupted", 4, {1.5e-3}));
  EXPECT_THAT(best(), ElementsAre("interrupted", "r1", "before", "luck"));
}

TEST_F(BestTest, OfTheWrongBestTheEarlierRankingIsRemembered) {
  store_.add(ranked("r1", 1, 1e-3, 1));
  store_.add(ranked("r2", 2, 2e-3, 1));
  store_.add(ranked("wrong", 3, 5e-4, 2));
  Record wrong = with_program(failure("found", FailureCause::WrongResult, ""), 3);
  store_.add(wrong);
  EXPECT_THAT(best(), ElementsAre("r1", "r2"));
}

TEST_F(BestTest, ABenchDecidesNothing) {
  store_.add(searched("s1", 1, {2e-3}));
  Record bench = searched("bench", 2, {1e-3});
  bench.kind = MeasurementKind::Bench;
  store_.add(bench);
  EXPECT_THAT(best(), ElementsAre("s1"));
}

TEST_F(BestTest, WhatWasFoundWrongLaterIsOut) {
  store_.add(searched("s1", 1, {1e-3}));
  store_.add(searched("s2", 2, {2e-3}));
  Record lost = with_program(failure("lost", FailureCause::WorkerLost, ""), 2);
  lost.kind = MeasurementKind::Bench;
  store_.add(lost);
  EXPECT_THAT(best(), ElementsAre("s1", "s2"));
  Record wrong = with_program(failure("wrong", FailureCause::WrongResult, "C[0] is 1"), 1);
  wrong.kind = MeasurementKind::Bench;
  store_.add(wrong);
  EXPECT_THAT(best(), ElementsAre("s2"));
  for (uint64_t number = 3; const FailureCause cause : {FailureCause::ProcessState,
                                                        FailureCause::ImplausibleTime, FailureCause::Crash}) {
    store_.add(searched(fmt::format("s{}", number), number, {1e-4}));
    Record found = with_program(failure(fmt::format("found {}", number), cause, ""), number);
    found.kind = MeasurementKind::Bench;
    store_.add(found);
    ++number;
  }
  EXPECT_THAT(best(), ElementsAre("s2"));
}

TEST_F(BestTest, OtherThreadsDevicesAndTargetsAreOtherTasks) {
  Record one = searched("one", 1, {1e-3});
  one.threads = 1;
  store_.add(one);
  Record device = searched("device", 1, {1e-3});
  device.device = "emulated:0";
  store_.add(device);
  Record target = searched("target", 1, {1e-3});
  target.target = "llvm mcpu=other";
  store_.add(target);
  store_.add(searched("here", 1, {2e-3}));
  EXPECT_THAT(best(), ElementsAre("here"));
  TaskKey single = task();
  single.threads = 1;
  EXPECT_THAT(best({single, environment().machine()}), ElementsAre("one"));
  EXPECT_EQ(store_.tasks(), (std::vector<TaskKey>{one.task(), device.task(), target.task(), task()}));
}

class BestOfEnvironments : public BestTest {
 protected:
  BestOfEnvironments() {
    updated_ = environment();
    updated_.plugins["llvm"] = "9.9.9";
    elsewhere_ = environment();
    elsewhere_.cpu_model = "Another";
    add_run("updated", updated_);
    add_run("elsewhere", elsewhere_);
  }
  void add_run(const std::string& id, const Environment& where) {
    store_.add_environment(where);
    RecordedRun other = run(id);
    other.environment = where.hash();
    store_.add_run(other);
  }
  static Record in(Record record, const std::string& run_id, const Environment& where) {
    record.run = run_id;
    record.environment = where.hash();
    return record;
  }

  Environment updated_;
  Environment elsewhere_;
};

TEST_F(BestOfEnvironments, TimesOfAnotherMachineStayApart) {
  store_.add(searched("here", 1, {3e-3}));
  store_.add(in(searched("elsewhere", 2, {1e-3}), "elsewhere", elsewhere_));
  EXPECT_THAT(best(), ElementsAre("here"));
  EXPECT_THAT(best({task(), elsewhere_.machine()}), ElementsAre("elsewhere"));
  EXPECT_THAT(best({task(), 1}), IsEmpty());
}

TEST_F(BestOfEnvironments, NothingIsComparedAcrossSoftware) {
  store_.add(searched("a", 1, {3e-3}));
  store_.add(searched("b", 2, {4e-3}));
  store_.add(in(searched("updated", 3, {1e-3}), "updated", updated_));
  EXPECT_THAT(best(), ElementsAre("a", "b", "updated")) << "more was measured there";
  store_.add(in(ranked("ranked", 3, 9e-3), "updated", updated_));
  EXPECT_THAT(best(), ElementsAre("ranked", "a", "b")) << "what was ranked is known best";
}

TEST_F(BestOfEnvironments, OfASpaceOnlyWhatItsRunsMeasured) {
  RecordedRun paper = run("paper");
  paper.space = "cpu-paper";
  store_.add_space({"cpu-paper", 42, "modules: [tile]"});
  store_.add_run(paper);
  Record record = searched("paper", 1, {3e-3});
  record.run = "paper";
  record.space = "cpu-paper";
  store_.add(record);
  store_.add(searched("cpu", 1, {3.5e-3}));
  store_.add(searched("fast", 2, {1e-3}));
  EXPECT_THAT(best({task(), environment().machine(), "cpu-paper"}), ElementsAre("paper"));
  EXPECT_THAT(best({task(), environment().machine(), "cpu"}), ElementsAre("fast", "cpu"));
}

TEST_F(BestTest, ADamagedRowIsLeftOutAndSaid) {
  store_.add(ranked("best", 1, 1e-3));
  store_.add(ranked("next", 2, 2e-3));
  Sql(path("a.db")).run("UPDATE measurement SET samples = 'none' WHERE id = 'best'");
  EXPECT_THROW(best(), EnvironmentError);
  std::vector<std::string> faults;
  store_.on_damage([&](const std::string& fault) { faults.push_back(fault); });
  EXPECT_THAT(best(), ElementsAre("next"));
  EXPECT_EQ(store_.list({}).size(), 1U);
  ASSERT_EQ(faults.size(), 2U) << "each read says it";
  EXPECT_THAT(faults.front(), testing::HasSubstr("record 'best' is damaged"));
}

}  // namespace
}  // namespace tunesmith
