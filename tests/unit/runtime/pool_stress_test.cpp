// Many short loops of all lengths, so that threads are delayed, asleep or late at every point of a loop.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/runtime/pool.h>
#include <tunesmith/support/random.h>

namespace tunesmith {
namespace {

using Pool = std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)>;

/// The state of one loop. After the loop's end `alive` is false, which late threads detect.
struct ShortLoop {
  static constexpr size_t kMaxIterations = 64;
  std::atomic<uint32_t> visits[kMaxIterations]{};
  std::atomic<bool> alive{true};
  std::atomic<int> faults{0};
  tunesmith_runtime_pool* pool = nullptr;
  int64_t inner = 0;  // length of a loop inside each chunk; 0 = none
  int work = 0;

  static void body(void* closure, int64_t begin, int64_t end) {
    auto& loop = *static_cast<ShortLoop*>(closure);
    if (!loop.alive || begin < 0 || end > static_cast<int64_t>(kMaxIterations) || begin >= end) ++loop.faults;
    for (int64_t i = begin; i < end; ++i) ++loop.visits[i];
    for (int i = 0; i < loop.work; ++i) static_cast<void>(loop.alive.load());
    if (loop.inner > 0) {
      ShortLoop nested;
      tunesmith_runtime_parallel_for(loop.pool, loop.inner, body, &nested);
      loop.faults += nested.end(loop.inner);
    }
  }

  /// The number of faults: elements not visited exactly once, and invalid chunks.
  int end(int64_t count) {
    alive = false;
    int wrong = faults;
    for (size_t i = 0; i < kMaxIterations; ++i)
      wrong += visits[i] != (static_cast<int64_t>(i) < count ? 1u : 0u);
    return wrong;
  }
};

/// Runs loops in sequence and keeps them all, so that late visits are found at the end.
int run_loops(tunesmith_runtime_pool* pool, uint64_t seed, int loops, bool nested) {
  RandomStream random(seed);
  constexpr size_t kKept = 32;
  std::vector<std::pair<std::unique_ptr<ShortLoop>, int64_t>> kept(kKept);
  int wrong = 0;
  for (int i = 0; i < loops; ++i) {
    auto loop = std::make_unique<ShortLoop>();
    const auto count = static_cast<int64_t>(random.below(ShortLoop::kMaxIterations + 1));
    loop->pool = pool;
    if (nested && random.below(4) == 0) loop->inner = static_cast<int64_t>(1 + random.below(8));
    if (random.below(8) == 0) loop->work = static_cast<int>(random.below(3000));
    if (random.below(500) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // threads go to sleep
    tunesmith_runtime_parallel_for(pool, count, ShortLoop::body, loop.get());
    wrong += loop->end(count);
    auto& place = kept[static_cast<size_t>(i) % kKept];
    if (place.first) wrong += place.first->end(place.second);
    place = {std::move(loop), count};
  }
  return wrong;
}

/// (threads of the pool, concurrent callers, whether loops are nested)
class PoolStress : public testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(PoolStress, EveryElementIsVisitedExactlyOnce) {
  const auto [threads, callers, nested] = GetParam();
  const Pool pool(tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy);
  std::atomic<int> wrong{0};
  std::vector<std::thread> others;
  for (int caller = 0; caller < callers; ++caller) {
    others.emplace_back([&, seed = static_cast<uint64_t>(caller), inside = nested] {
      wrong += run_loops(pool.get(), seed, 12000, inside);
    });
  }
  for (std::thread& other : others) other.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PoolStress,
                         testing::Combine(testing::Values(2, 3, 4, 9), testing::Values(1, 2),
                                          testing::Bool()));

TEST(PoolLifetime, PoolsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    const Pool pool(tunesmith_runtime_pool_create(1 + i % 5), tunesmith_runtime_pool_destroy);
    EXPECT_EQ(run_loops(pool.get(), static_cast<uint64_t>(i), i % 7, false), 0);
  }
}

}  // namespace
}  // namespace tunesmith
