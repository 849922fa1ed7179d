#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <tunesmith/target/runtime.h>

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

}  // namespace
}  // namespace tunesmith
