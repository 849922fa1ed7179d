#include "tunesmith/tuning/intervals.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<TimeAt> times_by(const std::function<double(double)>& seconds) {
  std::vector<TimeAt> times;
  for (const int64_t value : {512, 128, 32, 8, 2, 1})
    times.push_back({{value}, seconds(static_cast<double>(value))});
  return times;
}

Workload product() { return WorkloadLibrary().load("gmm:n=1..512,m=8,k=8"); }

std::vector<ValueInterval> chosen(const std::vector<std::vector<TimeAt>>& times) {
  return choose_intervals(product().program, times).intervals;
}

/// Quick with few, and with many.
double few(double n) { return n * std::sqrt(n / 16.5); }
double many(double n) { return n; }

TEST(Intervals, MeetWhereTimesCross) {
  EXPECT_THAT(chosen({times_by(many), times_by(few)}),
              ElementsAre(ValueInterval{1, 16, 1}, ValueInterval{17, 512, 0}));
  EXPECT_THAT(chosen({times_by(few), times_by(many)}),
              ElementsAre(ValueInterval{1, 16, 0}, ValueInterval{17, 512, 1}));
}

TEST(Intervals, AreOneWhereLittleIsGained) {
  const auto nearly = [](double n) { return n < 20.0 ? 0.98 * n : 1.01 * n; };
  EXPECT_THAT(chosen({times_by(many), times_by(nearly)}), ElementsAre(ValueInterval{1, 512, 0}))
      << "the best on record has them all";
  const auto faster_once = [](double n) { return n == 1.0 ? 0.8 * n : 1.5 * n; };
  EXPECT_THAT(chosen({times_by(many), times_by(faster_once)}),
              ElementsAre(ValueInterval{1, 1, 1}, ValueInterval{2, 512, 0}));
}

TEST(Intervals, AreFew) {
  std::vector<std::vector<TimeAt>> times;
  for (const double best : {512.0, 128.0, 32.0, 8.0, 2.0, 1.0})
    times.push_back(times_by([&](double n) { return n == best ? 1.0 : 2.0; }));
  const std::vector<ValueInterval> intervals = chosen(times);
  EXPECT_THAT(intervals, SizeIs(kMaxIntervals));
  EXPECT_EQ(intervals.front().lowest, 1);
  EXPECT_EQ(intervals.back().highest, 512);
  for (size_t i = 1; i < intervals.size(); ++i) EXPECT_EQ(intervals[i].lowest, intervals[i - 1].highest + 1);
}

TEST(Intervals, AreOfWhatAllProgramsWereTimedWith) {
  std::vector<TimeAt> short_list = times_by(few);
  short_list.resize(2);
  EXPECT_THAT(chosen({times_by(many), short_list}), ElementsAre(ValueInterval{1, 512, 0}));
  EXPECT_THAT(chosen({{}, {}}), ElementsAre(ValueInterval{1, 512, 0}));
}

TEST(Intervals, AreOfTheWidestRange) {
  Program program;
  program.parameters = {{Var::parameter("b", 1, 4), {}}, {Var::parameter("n", 1, 512), {}}};
  EXPECT_EQ(choose_intervals(program, std::vector<std::vector<TimeAt>>{{}}).parameter, 1U);
}

Record ranked(const std::string& id, int ranking, const std::function<double(double)>& seconds) {
  Record record;
  record.id = id;
  record.run = "run";
  record.kind = ranking > 0 ? MeasurementKind::Ranking : MeasurementKind::Search;
  record.ranking = ranking;
  record.timing = make_timing({1.0});
  record.timing->at = times_by(seconds);
  return record;
}

TEST(Intervals, AreOfRecordsOfOneRanking) {
  const auto slow = [](double n) { return 9.0 * n; };
  const Program program = std::move(product().program);
  const auto of = [&](const std::vector<Record>& best) {
    std::string text;
    for (const RecordOfInterval& one : records_of_intervals(program, best).each)
      text += interval_text(program, 0, one.lowest, one.highest) + ": " + one.record->id + "\n";
    return text;
  };
  EXPECT_EQ(of({ranked("a", 2, many), ranked("b", 2, slow), ranked("c", 2, few)}),
            "n=1..16: c\nn=17..512: a\n");
  EXPECT_EQ(of({ranked("a", 2, many), ranked("c", 1, few)}), "n=1..512: a\n") << "timed at another time";
  EXPECT_EQ(of({ranked("since", 0, many), ranked("c", 1, few)}), "n=1..512: since\n");
}

TEST(Intervals, ThereAreNoneWithoutParameters) {
  const Workload workload = WorkloadLibrary().load("gmm:n=8,m=8,k=8");
  const std::vector<Record> best = {ranked("a", 1, many), ranked("b", 1, few)};
  const RecordsOfIntervals records = records_of_intervals(workload.program, best);
  ASSERT_THAT(records.each, SizeIs(1));
  EXPECT_EQ(records.each.front().record->id, "a");
}

}  // namespace
}  // namespace tunesmith
