#include "worker/process_state.h"

#include <cfenv>
#include <csignal>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "worker/numbered_entries.h"

namespace tunesmith {
namespace {

class ProcessWatchTest : public testing::Test {
 protected:
  const ForeignThreads threads_;
  const std::vector<int> descriptors_ = numbered_entries("/proc/self/fd");
  ProcessWatch watch_{nullptr, threads_, descriptors_};
};

TEST_F(ProcessWatchTest, NothingHasChangedWhereNothingWasDone) {
  watch_.first_calls_done();
  EXPECT_EQ(watch_.changed_by_calls(), std::nullopt);
  EXPECT_EQ(watch_.left_behind(), std::nullopt);
}

TEST_F(ProcessWatchTest, ABlockedSignalIsNamedAndUnblocked) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watch_.first_calls_done();
  EXPECT_EQ(watch_.changed_by_calls(), "blocks signal 14 (Alarm clock)");
  EXPECT_EQ(watch_.left_behind(), "blocks signal 14 (Alarm clock)");
  EXPECT_EQ(watch_.left_behind(), std::nullopt);
}

/// Blocks SIGALRM on a new thread on request. The thread ends with the object.
class Blocker {
 public:
  Blocker() : thread_([this] { serve(); }) { done_.acquire(); }
  ~Blocker() {
    told_.release(2);
    thread_.join();
  }
  Blocker(const Blocker&) = delete;
  Blocker& operator=(const Blocker&) = delete;

  void block() {
    told_.release();
    done_.acquire();
  }

 private:
  void serve() {
    done_.release();  // the thread runs and blocks nothing
    told_.acquire();
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    done_.release();
    told_.acquire();
  }

  std::counting_semaphore<3> told_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;
};

TEST(ProcessWatch, SignalsThatAThreadOfTheWorkersBlocksAreNamed) {
  Blocker own;
  const ForeignThreads threads;
  const std::vector<int> descriptors = numbered_entries("/proc/self/fd");
  {
    ProcessWatch watch(nullptr, threads, descriptors);
    EXPECT_EQ(watch.left_behind(), std::nullopt);
    own.block();
    EXPECT_EQ(watch.left_behind(), "blocked signal 14 (Alarm clock) in a thread of the worker");
  }
  // A runtime's own threads may block signals.
  Blocker foreign;
  ProcessWatch watch(nullptr, threads, descriptors);
  foreign.block();
  EXPECT_EQ(watch.left_behind(), std::nullopt);
}

TEST(ProcessWatch, SignalsThatAThreadBlockedBeforeAreNotNamed) {
  EXPECT_EQ(newly_blocked({{7, 0b010}, {8, 0}}, {{7, 0b010}, {8, 0b110}}, 0),
            "blocked signal 2 (Interrupt) in a thread of the worker");
  EXPECT_EQ(newly_blocked({{7, 0b110}}, {{7, 0b010}}, 0), std::nullopt);
  EXPECT_EQ(newly_blocked({{7, 0b010}}, {{8, 0b110}}, 0), std::nullopt) << "another thread";
}

TEST(ProcessWatch, AThreadThatHadJustBeenStartedBlocksWhatItInherits) {
  constexpr uint64_t kAll = 0xfffffffffffbfeff;
  EXPECT_EQ(newly_blocked({{7, kAll}}, {{7, 0b010}}, 0b010), std::nullopt);
  EXPECT_EQ(newly_blocked({{7, kAll}}, {{7, 0b110}}, 0b010),
            "blocked signal 3 (Quit) in a thread of the worker");
  EXPECT_EQ(newly_blocked({{7, kAll}}, {{7, kAll}}, 0), std::nullopt) << "as some drivers' threads always do";
}

TEST_F(ProcessWatchTest, AHandlerIsNamedAndTakenBack) {
  std::signal(SIGUSR2, [](int) {});
  EXPECT_EQ(watch_.left_behind(), "changed the handler of signal 12 (User defined signal 2)");
  EXPECT_EQ(watch_.left_behind(), std::nullopt);
}

#if defined(__x86_64__)
TEST_F(ProcessWatchTest, AFloatingPointModeIsSetBack) {
  std::fesetround(FE_DOWNWARD);
  EXPECT_EQ(watch_.left_behind(), kFloatModeChanged);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(watch_.left_behind(), std::nullopt);
}
#endif

TEST_F(ProcessWatchTest, AFileMayStayOpenIfTheFirstCallsHaveOpenedIt) {
  const int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
  watch_.first_calls_done();
  EXPECT_EQ(watch_.changed_by_calls(), std::nullopt);
  EXPECT_EQ(watch_.left_behind(), std::nullopt);
  const int second = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(watch_.changed_by_calls(), "has 1 files more open after further calls than after the first ones");
  close(first);
  close(second);
}

TEST_F(ProcessWatchTest, FilesOfOthersStayOpen) {
  const int of_others = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ProcessWatch watch(nullptr, threads_, descriptors_);
  close(of_others);
  EXPECT_EQ(watch.left_behind(),
            "closed descriptor " + std::to_string(of_others) + ", which it did not open");
}

TEST_F(ProcessWatchTest, ManyFilesDoNotStayBehind) {
  std::vector<int> files;
  for (size_t i = 0; i <= kMaxKeptDescriptors; ++i) {
    EXPECT_EQ(watch_.left_behind(), std::nullopt);
    files.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  EXPECT_EQ(watch_.left_behind(), "left open files: 65 including earlier candidates'");
  for (const int file : files) close(file);
}

}  // namespace
}  // namespace tunesmith
