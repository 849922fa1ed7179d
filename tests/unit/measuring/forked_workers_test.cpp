#include "tunesmith/measuring/forked_workers.h"

#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

struct Heard {
  std::vector<std::string> answers;
  std::vector<bool> lost;
};

/// `answer` runs in the processes.
Heard ask(size_t count, const std::function<std::string(size_t)>& answer, double time_out_seconds = 0) {
  Heard heard{std::vector<std::string>(count), std::vector<bool>(count)};
  ForkedWork work;
  work.count = count;
  work.processes = 2;
  work.time_out_seconds = time_out_seconds;
  work.begin = [&] { return answer; };
  work.take = [&](size_t question, const std::string& text, bool lost) {
    EXPECT_TRUE(heard.answers[question].empty());
    heard.answers[question] = text;
    heard.lost[question] = lost;
  };
  run_forked(work);
  return heard;
}

TEST(ForkedWorkers, AnswerEachQuestionOnceWhateverBecomesOfOthers) {
  const Heard heard = ask(6, [](size_t question) {
    if (question == 1) raise(SIGKILL);
    if (question == 3) _exit(7);
    return std::string(100'000, static_cast<char>('a' + question));
  });
  for (const size_t question : {0, 2, 4, 5})
    EXPECT_EQ(heard.answers[question], std::string(100'000, static_cast<char>('a' + question)));
  EXPECT_EQ(heard.lost, (std::vector<bool>{false, true, false, true, false, false}));
  EXPECT_EQ(heard.answers[1], "its process was ended by signal 9 (Killed)");
  EXPECT_EQ(heard.answers[3], "its process ended with code 7");
}

TEST(ForkedWorkers, LoseWhatTakesTooLong) {
  const Heard heard = ask(
      2,
      [](size_t question) {
        while (question == 0) pause();
        return std::string("there");
      },
      0.3);
  EXPECT_EQ(heard.answers[0], "it has not ended in 0.3 seconds");
  EXPECT_EQ(heard.answers[1], "there");
}

TEST(ForkedWorkers, ThrowWhatIsThrownThere) {
  EXPECT_THROW(ask(3, [](size_t) -> std::string { throw UserError("no"); }), UserError);
  EXPECT_THROW(ask(3, [](size_t) -> std::string { throw EnvironmentError("no"); }), EnvironmentError);
  EXPECT_TRUE(ask(0, [](size_t) { return std::string(); }).answers.empty());
}

}  // namespace
}  // namespace tunesmith
