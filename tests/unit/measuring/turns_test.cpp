// Messages in queues besides jobs: they read back what was written; damaged, foreign and forged ones are
// refused.
#include "tunesmith/measuring/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example_job.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

Turns example_turns() {
  Turns turns;
  turns.candidates = {test::example_candidate(), test::example_candidate()};
  turns.candidates.back().trace = "# tunesmith trace 2\n";
  turns.rounds = 40;
  turns.min_rounds = 3;
  turns.budget_seconds = 2.5;
  turns.peak = true;
  return turns;
}

WorkerDescription example_worker() {
  WorkerDescription worker;
  worker.name = "board:17";
  worker.environment.cpu_model = "a processor";
  worker.environment.machine_name = "this one";
  worker.target = "llvm 19 generator=1 lowering=1";
  worker.threads = 4;
  worker.identity = identity_of({0, worker.target, worker.threads, ""}, worker.environment);
  worker.quantities = {{"cores", 4.0}, {"vector_bits", 512.0}};
  worker.rule = "target llvm mcpu=native";
  worker.machine = "x86_64, 4 cores";
  worker.limits = {512, 32, 1 << 19, 16384, true, false};
  worker.reference = 0.021;
  worker.usual_reference = 0.02;
  worker.done = 7;
  worker.refused = 1;
  return worker;
}

template <typename Parse>
std::string why_refused(const Parse& parse, const std::string& text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Turns, WhatIsWrittenIsRead) { EXPECT_EQ(parse_turns(text_of(example_turns())), example_turns()); }

TEST(Turns, CandidatesAreAsManyAsItSaysAndOfOneTask) {
  const std::string text = text_of(example_turns());
  EXPECT_THAT(why_refused(parse_turns, text.substr(0, text.rfind('\n'))),
              HasSubstr("has 1 candidates, but states 2"));
  EXPECT_THAT(why_refused(parse_turns, text + text.substr(text.rfind('\n'))),
              HasSubstr("more candidates than it states"));
  Turns mixed = example_turns();
  mixed.candidates.back().workload.hash += 1;
  EXPECT_THAT(why_refused(parse_turns, text_of(mixed)), HasSubstr("of several tasks"));
  Turns none = example_turns();
  none.candidates.clear();
  EXPECT_THAT(why_refused(parse_turns, text_of(none)), HasSubstr("has 0 candidates"));
  EXPECT_THAT(why_refused(parse_turns, ""), HasSubstr("empty"));
  EXPECT_THAT(why_refused(parse_turns, line_of(test::example_job())),
              HasSubstr("expected a turns, found a job"));
}

TEST(Turns, TimesAreReadAsTheyWereWritten) {
  const std::vector<InterleavedTimes> times = {{{1e-3, 2e-3}, 1, std::nullopt, {{{16, 3}, {4e-3, 5e-3}}}},
                                               {{}, 0, CandidateFailure{FailureCause::Crash, "signal 11"}}};
  const auto read = std::get<std::vector<InterleavedTimes>>(parse_answer(text_of(Answer(times))));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].samples, times[0].samples);
  EXPECT_EQ(read[0].disturbed, 1U);
  ASSERT_EQ(read[0].at.size(), 1U);
  EXPECT_EQ(read[0].at[0].values, times[0].at[0].values);
  EXPECT_EQ(read[0].at[0].samples, times[0].at[0].samples);
  EXPECT_TRUE(read[1].at.empty());
  EXPECT_EQ(read[1].failure, times[1].failure);
  EXPECT_EQ(std::get<Refusal>(parse_answer(text_of(Answer(Refusal{"no"})))).why, "no");
}

TEST(Turns, ForgedAnswersAreRefused) {
  const std::string times = text_of(Answer(std::vector<InterleavedTimes>{{{1e-3}, 0, std::nullopt}}));
  EXPECT_THAT(why_refused(parse_answer, replaced(times, "0.001", "0.002")), HasSubstr("checksum"));
  EXPECT_THAT(why_refused(parse_answer, times.substr(0, times.size() / 2)), HasSubstr("damaged"));
  EXPECT_THAT(why_refused(parse_answer, text_of(Answer(std::vector<InterleavedTimes>{{}}))),
              HasSubstr("samples and a failure, or neither"));
  EXPECT_THAT(
      why_refused(parse_answer, text_of(Answer(std::vector<InterleavedTimes>{{{-1.0}, 0, std::nullopt}}))),
      HasSubstr("samples"));
  EXPECT_THAT(why_refused(parse_answer, line_of(test::example_job())), HasSubstr("found a job"));
  EXPECT_THAT(why_refused(parse_answer, std::string(kMaxLineBytes + 1, ' ')), HasSubstr("larger than"));
}

TEST(Turns, AWorkerDescribesItself) {
  const WorkerDescription worker = example_worker();
  EXPECT_EQ(parse_worker(text_of(worker)), worker);
  EXPECT_THAT(why_refused(parse_worker, text_of(Answer(Refusal{"no"}))), HasSubstr("expected a worker"));
}

TEST(Turns, AnIdentityIsOfAllMachinesWhoseTimesAreCompared) {
  const WorkerDescription worker = example_worker();
  const TaskKey task{0, worker.target, worker.threads, ""};
  Environment other = worker.environment;
  other.machine_name = "another one";
  other.kernel = "of another day";
  EXPECT_EQ(identity_of(task, other), worker.identity);
  other.cpu_model = other.cpu_identity = "another processor";
  EXPECT_NE(identity_of(task, other), worker.identity);
  EXPECT_NE(identity_of({0, worker.target, worker.threads + 1, ""}, worker.environment), worker.identity);
  EXPECT_NE(identity_of({0, worker.target + " with=unit:1", worker.threads, ""}, worker.environment),
            worker.identity);
  EXPECT_EQ(common_environment(worker.environment).machine_name, "");
}

}  // namespace
}  // namespace tunesmith
