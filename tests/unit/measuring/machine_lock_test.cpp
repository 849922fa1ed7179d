#include "tunesmith/measuring/machine_lock.h"

#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using Use = MachineLock::Use;
using std::chrono::milliseconds;

/// Data shared by the processes.
struct Shared {
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::atomic<int> turns[2] = {0, 0};
  std::atomic<int> others_turns{0};  // when the first one was done
  std::atomic<bool> ready{false};
  std::atomic<int> arrived{0};
};

class MachineLockTest : public testing::Test {
 protected:
  MachineLockTest() {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (memory) Shared;
  }
  ~MachineLockTest() override { munmap(shared_, sizeof(Shared)); }

  fs::path file() const { return folder_ / "machine.lock"; }

  template <typename Body>
  static pid_t child(Body body) {
    const pid_t process = fork();
    if (process == 0) {
      body();
      _exit(0);
    }
    return process;
  }

  /// A process that holds the machine until it is killed.
  pid_t holder(Use use) {
    const pid_t process = child([&] {
      MachineLock lock(file());
      const MachineLock::Turn turn = lock.wait(use);
      shared_->ready = true;
      while (true) pause();
    });
    while (!shared_->ready) std::this_thread::sleep_for(milliseconds(1));
    return process;
  }

  static void end(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }

  /// The turn that it gets within `patience`.
  static MachineLock::Turn wait_for(MachineLock& lock, Use use, milliseconds patience) {
    std::atomic<bool> stop = false;
    std::atomic<bool> done = false;
    std::thread person([&] {
      const auto end = std::chrono::steady_clock::now() + patience;
      while (!done && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
      stop = true;
    });
    MachineLock::Turn turn = lock.wait(use, &stop);
    done = true;
    person.join();
    return turn;
  }

  test::TemporaryFolder folder_;
  Shared* shared_;
};

TEST_F(MachineLockTest, TwoProcessesAreNeverInsideAtOnceAndNeitherStarves) {
  constexpr int kTurns = 30;
  std::vector<pid_t> processes;
  for (const size_t me : {0, 1}) {
    processes.push_back(child([&] {
      MachineLock lock(file());
      for (++shared_->arrived; shared_->arrived < 2;) std::this_thread::sleep_for(milliseconds(1));
      for (int i = 0; i < kTurns; ++i) {
        const MachineLock::Turn turn = lock.wait(Use::Measure);
        if (!turn || shared_->inside++ != 0) ++shared_->together;
        std::this_thread::sleep_for(milliseconds(10));
        --shared_->inside;
        if (++shared_->turns[me] == kTurns && shared_->others_turns == 0)
          shared_->others_turns = shared_->turns[1 - me].load();
      }
    }));
  }
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared_->together, 0);
  EXPECT_GE(shared_->others_turns, kTurns / 2);
}

TEST_F(MachineLockTest, TheDeathOfItsHolderReleasesIt) {
  const pid_t process = holder(Use::Measure);
  MachineLock lock(file());
  EXPECT_FALSE(wait_for(lock, Use::Measure, milliseconds(50)));
  end(process);
  EXPECT_TRUE(wait_for(lock, Use::Measure, std::chrono::seconds(5)));
}

TEST_F(MachineLockTest, WhoComputesDoesSoBesideHisLikeOnly) {
  const pid_t process = holder(Use::Compute);
  MachineLock lock(file());
  EXPECT_TRUE(wait_for(lock, Use::Compute, std::chrono::seconds(5)));
  EXPECT_FALSE(wait_for(lock, Use::Measure, milliseconds(50)));
  end(process);
  EXPECT_TRUE(wait_for(lock, Use::Measure, std::chrono::seconds(5)));
}

TEST_F(MachineLockTest, WhoWaitsSaysSoOnceAndAStopEndsItAtOnce) {
  const pid_t process = holder(Use::Measure);
  std::vector<std::string> said;
  MachineLock lock(file(), [&](const std::string& line) { said.push_back(line); });
  for (int i = 0; i < 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(wait_for(lock, Use::Measure, milliseconds(50)));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said.front(), "waiting: another run is measuring on this machine");
  end(process);
}

TEST_F(MachineLockTest, AFreeMachineIsNoNews) {
  std::vector<std::string> said;
  MachineLock lock(file(), [&](const std::string& line) { said.push_back(line); });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(lock.wait(Use::Measure));
  EXPECT_TRUE(said.empty());
}

TEST_F(MachineLockTest, AllUsersMayLockTheFile) {
  const mode_t before = umask(0077);
  MachineLock lock(file());
  EXPECT_TRUE(lock.wait(Use::Measure));
  umask(before);
  EXPECT_EQ(fs::status(file()).permissions() & fs::perms::all, fs::perms{0644});
  EXPECT_EQ(fs::file_size(file()), 0u);
}

TEST_F(MachineLockTest, AFileThatSomebodyRemovesIsMadeAgain) {
  MachineLock lock(file());
  const MachineLock::Turn turn = lock.wait(Use::Measure);
  ASSERT_TRUE(turn);
  fs::remove(file());
  MachineLock other(file());
  EXPECT_TRUE(other.wait(Use::Measure));
}

TEST_F(MachineLockTest, WithoutALockARunGoesOnAndSaysSoOnce) {
  fs::create_symlink(folder_ / "elsewhere", folder_ / "link.lock.next");
  mkfifo((folder_ / "pipe.lock.next").c_str(), 0666);
  for (const fs::path& bad :
       {folder_ / "nowhere/machine.lock", folder_ / "link.lock", folder_ / "pipe.lock"}) {
    std::vector<std::string> said;
    MachineLock lock(bad, [&](const std::string& line) { said.push_back(line); });
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(lock.wait(Use::Measure));
    ASSERT_EQ(said.size(), 1u) << bad;
    EXPECT_NE(said.front().find("cannot lock the machine"), std::string::npos) << said.front();
  }
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST(MachineLockFile, IsInAFolderOfEverybody) {
  const fs::path file = MachineLock::default_file();
  EXPECT_EQ(file.filename(), "tunesmith.lock");
  EXPECT_TRUE(file.parent_path() == "/run/lock" || file.parent_path() == "/tmp") << file;
}

}  // namespace
}  // namespace tunesmith
