#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <tunesmith/runtime/pool.h>

namespace tunesmith {
namespace {

using Pool = std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)>;

Pool make_pool(int threads) {
  return {tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy};
}

struct Counters {
  std::vector<std::atomic<int>> visits;
  explicit Counters(int64_t count) : visits(static_cast<size_t>(count)) {}
  static void body(void* closure, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++static_cast<Counters*>(closure)->visits[static_cast<size_t>(i)];
  }
  bool all_are(int expected) const {
    for (const auto& visit : visits) {
      if (visit != expected) return false;
    }
    return true;
  }
};

TEST(RuntimePool, RunsEveryIterationOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const Pool pool = make_pool(threads);
    EXPECT_EQ(tunesmith_runtime_pool_threads(pool.get()), threads);
    for (const int64_t count : {0, 1, 2, 3, 7, 8, 9, 1000}) {
      Counters counters(count);
      tunesmith_runtime_parallel_for(pool.get(), count, Counters::body, &counters);
      EXPECT_TRUE(counters.all_are(1)) << threads << " threads, " << count << " iterations";
    }
  }
}

TEST(RuntimePool, RunsManyLoopsOneAfterTheOther) {
  const Pool pool = make_pool(4);
  Counters counters(5);
  for (int i = 0; i < 20000; ++i) tunesmith_runtime_parallel_for(pool.get(), 5, Counters::body, &counters);
  EXPECT_TRUE(counters.all_are(20000));
}

TEST(RuntimePool, WakesThreadsThatSleep) {
  const Pool pool = make_pool(3);
  Counters counters(3);
  for (int i = 0; i < 20; ++i) {
    usleep(3000);
    tunesmith_runtime_parallel_for(pool.get(), 3, Counters::body, &counters);
  }
  EXPECT_TRUE(counters.all_are(20));
}

TEST(RuntimePool, WaitsForAThreadThatTakesLong) {
  const Pool pool = make_pool(2);
  std::atomic<int> ended{0};
  for (int i = 0; i < 3; ++i) {
    ended = 0;
    tunesmith_runtime_parallel_for(
        pool.get(), 2,
        [](void* closure, int64_t begin, int64_t end) {
          // Longer than the caller spins, whichever thread this is.
          usleep(begin == 0 ? 100 : 5000);
          *static_cast<std::atomic<int>*>(closure) += static_cast<int>(end - begin);
        },
        &ended);
    EXPECT_EQ(ended, 2);
  }
}

TEST(RuntimePool, GivesEachThreadItsChunkWhereTheCallerMayNotTakeIt) {
  const Pool pool = make_pool(4);
  tunesmith_runtime_pool_set_stealing(pool.get(), 0);
  for (int i = 0; i < 20; ++i) {
    usleep(3000);  // the threads fall asleep, and the caller would be done before they wake
    std::vector<std::thread::id> ran(4);
    tunesmith_runtime_parallel_for(
        pool.get(), 4,
        [](void* closure, int64_t begin, int64_t end) {
          for (int64_t chunk = begin; chunk < end; ++chunk)
            (*static_cast<std::vector<std::thread::id>*>(closure))[static_cast<size_t>(chunk)] =
                std::this_thread::get_id();
        },
        &ran);
    EXPECT_EQ(std::set<std::thread::id>(ran.begin(), ran.end()).size(), 4U);
  }
  tunesmith_runtime_pool_set_stealing(pool.get(), 1);
  Counters counters(1000);
  for (int i = 0; i < 100; ++i) tunesmith_runtime_parallel_for(pool.get(), 1000, Counters::body, &counters);
  EXPECT_TRUE(counters.all_are(100));
}

// On the caller's processor it would wait until the system moves it, while the caller spins.
TEST(RuntimePool, AThreadWakesBesideTheCaller) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  if (CPU_COUNT(&usable) < 2) GTEST_SKIP() << "one processor";
  const Pool pool = make_pool(2);
  tunesmith_runtime_pool_set_stealing(pool.get(), 0);
  bool beside = false;
  // Repeats, because the system may move the caller, or keep the thread from falling asleep.
  for (int attempt = 0; attempt < 100 && !beside; ++attempt) {
    usleep(3000);
    cpu_set_t threads, others = usable;
    tunesmith_runtime_parallel_for(
        pool.get(), 2,
        [](void* closure, int64_t begin, int64_t) {
          if (begin == 1) sched_getaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(closure));
        },
        &threads);
    CPU_CLR(static_cast<size_t>(sched_getcpu()), &others);
    beside = CPU_EQUAL(&threads, &others);
  }
  EXPECT_TRUE(beside);
}

TEST(RuntimePool, RunsALoopInsideALoopOnOneThread) {
  const Pool pool = make_pool(2);
  struct Nest {
    tunesmith_runtime_pool* pool;
    Counters counters{100};
  } nest{pool.get()};
  tunesmith_runtime_parallel_for(
      pool.get(), 10,
      [](void* closure, int64_t begin, int64_t end) {
        auto* outer = static_cast<Nest*>(closure);
        for (int64_t i = begin; i < end; ++i) {
          tunesmith_runtime_parallel_for(outer->pool, 100, Counters::body, &outer->counters);
        }
      },
      &nest);
  EXPECT_TRUE(nest.counters.all_are(10));
}

TEST(RuntimePool, IsCalledBySeveralThreads) {
  const Pool pool = make_pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Counters counters(10);
        tunesmith_runtime_parallel_for(pool.get(), 10, Counters::body, &counters);
        if (!counters.all_are(1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RuntimePool, RunsSeriallyWithoutAPool) {
  Counters counters(10);
  tunesmith_runtime_parallel_for(nullptr, 10, Counters::body, &counters);
  EXPECT_TRUE(counters.all_are(1));
  tunesmith_runtime_pool_destroy(nullptr);
}

TEST(RuntimePool, HasAThreadForEachProcessorByDefault) {
  EXPECT_GE(tunesmith_runtime_pool_threads(make_pool(0).get()), 1);
}

/// The mode of each chunk's thread.
struct Modes {
  std::vector<uint64_t> seen = std::vector<uint64_t>(8);
  bool leaves_another = false;
  std::atomic<int> arrived{0};
  static void body(void* closure, int64_t begin, int64_t end) {
    auto& modes = *static_cast<Modes*>(closure);
    for (int64_t i = begin; i < end; ++i) modes.seen[static_cast<size_t>(i)] = tunesmith_runtime_float_mode();
    // Uses both threads: the caller takes no chunk that another thread has begun.
    ++modes.arrived;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (modes.arrived < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    if (modes.leaves_another) std::fesetround(FE_TOWARDZERO);
  }
  bool all_are(uint64_t mode) const {
    return std::ranges::all_of(seen, [&](uint64_t one) { return one == mode; });
  }
};

class FloatMode : public testing::Test {
 protected:
  ~FloatMode() override { tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode()); }
};

TEST_F(FloatMode, StartsAsTheDefault) {
  EXPECT_EQ(tunesmith_runtime_float_mode(), tunesmith_runtime_default_float_mode());
}

#if defined(__x86_64__)
TEST_F(FloatMode, IsWhatChangesResultsAndNotWhatHasOccurred) {
  const uint64_t before = tunesmith_runtime_float_mode();
  std::feraiseexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(tunesmith_runtime_float_mode(), before);
  std::fesetround(FE_UPWARD);
  const uint64_t upward = tunesmith_runtime_float_mode();
  EXPECT_NE(upward, before);
  tunesmith_runtime_set_float_mode(before);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);  // setting a mode forgets nothing
  tunesmith_runtime_set_float_mode(upward);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

// A new thread has the mode of the one that starts it.
TEST_F(FloatMode, OfAChunkIsTheCallersWhateverThePoolWasStartedIn) {
  const uint64_t nearest = tunesmith_runtime_float_mode();
  std::fesetround(FE_UPWARD);
  const uint64_t upward = tunesmith_runtime_float_mode();
  const Pool pool = make_pool(2);
  for (const uint64_t mode : {upward, nearest, upward}) {
    tunesmith_runtime_set_float_mode(mode);
    Modes modes;
    tunesmith_runtime_parallel_for(pool.get(), 8, Modes::body, &modes);
    EXPECT_TRUE(modes.all_are(mode));
    EXPECT_EQ(tunesmith_runtime_pool_take_mode_change(pool.get()), 0);
  }
}

TEST_F(FloatMode, ThatAChunkLeavesIsSetBackAndTold) {
  const uint64_t nearest = tunesmith_runtime_float_mode();
  const Pool pool = make_pool(2);
  Modes bad;
  bad.leaves_another = true;
  tunesmith_runtime_parallel_for(pool.get(), 8, Modes::body, &bad);
  EXPECT_EQ(tunesmith_runtime_float_mode(), nearest);
  EXPECT_NE(tunesmith_runtime_pool_take_mode_change(pool.get()), 0);
  EXPECT_EQ(tunesmith_runtime_pool_take_mode_change(pool.get()), 0);
  Modes after;
  tunesmith_runtime_parallel_for(pool.get(), 8, Modes::body, &after);
  EXPECT_TRUE(after.all_are(nearest));
}
#endif

}  // namespace
}  // namespace tunesmith
