#include "worker/foreign_threads.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

/// A thread that repeats `what` until the object is destroyed.
class Busy {
 public:
  explicit Busy(std::function<void()> what)
      : thread_([this, what = std::move(what)] {
          started_ = true;
          while (!stop_) what();
        }) {
    while (!started_) std::this_thread::yield();
  }
  ~Busy() {
    stop_ = true;
    thread_.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool> started_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

void sleep_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(ForeignThreads, AreThoseThatCameLater) {
  const Busy own(sleep_a_while);
  const ForeignThreads threads;
  EXPECT_TRUE(threads.now().empty());
  EXPECT_TRUE(threads.come_to_rest());
  const Busy foreign(sleep_a_while);
  EXPECT_EQ(threads.now().size(), 1u);
}

TEST(ForeignThreads, ThatSleepAreAtRest) {
  const ForeignThreads threads;
  const Busy foreign(sleep_a_while);
  EXPECT_TRUE(threads.come_to_rest());
}

TEST(ForeignThreads, ThatGoOnRunningAreNot) {
  const ForeignThreads threads;
  const Busy sleeping(sleep_a_while);
  const Busy running([] {});
  EXPECT_FALSE(threads.come_to_rest());
}

TEST(ForeignThreads, ThatLiveAreOutlastedForALimitedTime) {
  const auto milliseconds_of = [](const ForeignThreads& threads, std::chrono::milliseconds limit) {
    const auto begin = std::chrono::steady_clock::now();
    threads.outlast(limit);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  const ForeignThreads threads;
  constexpr std::chrono::seconds kLong{60};
  EXPECT_LT(milliseconds_of(threads, kLong), 10e3) << "there are none";
  std::thread ends([] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
  while (threads.now().empty()) std::this_thread::yield();
  EXPECT_LT(milliseconds_of(threads, kLong), 10e3) << "it ends";
  EXPECT_TRUE(threads.now().empty());
  ends.join();
  const Busy lives(sleep_a_while);
  EXPECT_GE(milliseconds_of(threads, std::chrono::milliseconds(40)), 40.0);
}

TEST(ForeignThreads, AreWaitedForUntilTheySleep) {
  const ForeignThreads threads;
  std::atomic<bool> done = false;
  std::thread late([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(8);
    while (std::chrono::steady_clock::now() < end) {
    }
    done = true;
    sleep_a_while();
  });
  while (threads.now().empty()) std::this_thread::yield();
  EXPECT_TRUE(threads.come_to_rest());
  EXPECT_TRUE(done);
  late.join();
}

}  // namespace
}  // namespace tunesmith
