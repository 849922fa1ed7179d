#define _GNU_SOURCE
#include "tunesmith/runtime/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kCacheLine = 64, kPausesBetweenClockReads = 64 };
static const int64_t kSpinNanoseconds = 1000000;

/* A thread's place: the generation of the loop whose chunk the thread, or the caller instead of it, took
 * last. */
struct place {
  _Alignas(kCacheLine) atomic_uint taken;
};

/* Words that one side writes and the other spins on have separate cache lines. */
struct tunesmith_runtime_pool {
  _Alignas(kCacheLine) atomic_uint generation; /* number of loops started; idle workers wait on it */
  _Alignas(kCacheLine) atomic_int parked;      /* workers asleep or about to sleep */
  _Alignas(kCacheLine)
      atomic_uint done; /* chunks of the current loop that workers have finished; the caller waits on it */
  _Alignas(kCacheLine) atomic_int caller_parked;
  _Alignas(kCacheLine) atomic_flag busy;
  _Alignas(kCacheLine) int64_t count;
  tunesmith_loop_body body;
  void* closure;
  uint64_t float_mode; /* of the caller */
  atomic_int float_mode_changed;
  atomic_int stop;
  int stealing;
  int avoided; /* the processor on which the last caller woke the threads, or -1 */
  int threads;
  pthread_t* handles;
  struct place* places;
};

struct worker_start {
  struct tunesmith_runtime_pool* pool;
  int index;
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t now_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_while_equal(atomic_uint* word, unsigned value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint* word, int sleepers) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
}

/* Spins until *word is no longer `value`; returns 0 on a time-out. */
static int spin_while_equal(atomic_uint* word, unsigned value) {
  int64_t started = 0;
  for (;;) {
    for (int i = 0; i < kPausesBetweenClockReads; ++i) {
      if (atomic_load_explicit(word, memory_order_acquire) != value) return 1;
      pause_briefly();
    }
    const int64_t now = now_nanoseconds();
    if (started == 0) started = now;
    if (now - started > kSpinNanoseconds) return 0;
  }
}

static void run_chunk(struct tunesmith_runtime_pool* pool, int index) {
  /* 128 bits, so that products with any count do not overflow. */
  const __int128 count = pool->count;
  const int64_t begin = (int64_t)(count * index / pool->threads);
  const int64_t end = (int64_t)(count * (index + 1) / pool->threads);
  if (begin >= end) return;
  tunesmith_runtime_set_float_mode(pool->float_mode);
  pool->body(pool->closure, begin, end);
  if (tunesmith_runtime_float_mode() == pool->float_mode) return;
  atomic_store_explicit(&pool->float_mode_changed, 1, memory_order_relaxed);
  tunesmith_runtime_set_float_mode(pool->float_mode);
}

/* Succeeds for exactly one thread per place and generation. While that thread runs the chunk, the loop cannot
 * end. Every place is taken in every generation, so it holds the previous generation while a loop runs; a
 * thread that was delayed since an earlier loop finds a later generation and must not take the place. */
static int take(struct place* place, unsigned generation) {
  unsigned previous = generation - 1;
  return atomic_compare_exchange_strong(&place->taken, &previous, generation);
}

static void* worker(void* argument) {
  const struct worker_start start = *(struct worker_start*)argument;
  free(argument);
  struct tunesmith_runtime_pool* pool = start.pool;
  unsigned seen = 0;
  for (;;) {
    while (!spin_while_equal(&pool->generation, seen)) {
      /* Sequentially consistent with the caller, which raises `generation` and then reads `parked`: one of
       * the two sees the other's write. */
      atomic_fetch_add(&pool->parked, 1);
      while (atomic_load(&pool->generation) == seen) sleep_while_equal(&pool->generation, seen);
      atomic_fetch_sub(&pool->parked, 1);
    }
    /* Loops that ended meanwhile ran without this thread. */
    seen = atomic_load(&pool->generation);
    if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return NULL;
    if (!take(&pool->places[start.index], seen)) continue;
    run_chunk(pool, start.index);
    atomic_fetch_add(&pool->done, 1);
    if (atomic_load(&pool->caller_parked)) wake(&pool->done, 1);
  }
}

/* The system prefers the waker's processor for a thread that wakes. There it would wait until the next
 * balancing, which may be many milliseconds away, while the caller spins. */
static void keep_off_the_callers_processor(struct tunesmith_runtime_pool* pool) {
  const int here = sched_getcpu();
  if (here == pool->avoided || here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < pool->threads) return;
  CPU_CLR(here, &set);
  for (int i = 1; i < pool->threads; ++i) pthread_setaffinity_np(pool->handles[i], sizeof set, &set);
  pool->avoided = here;
}

static unsigned hand_out(struct tunesmith_runtime_pool* pool) {
  const unsigned generation = atomic_fetch_add(&pool->generation, 1) + 1;
  if (atomic_load(&pool->parked) > 0) {
    keep_off_the_callers_processor(pool);
    wake(&pool->generation, pool->threads);
  }
  return generation;
}

static void wait_for_workers(struct tunesmith_runtime_pool* pool, unsigned chunks) {
  unsigned done;
  while ((done = atomic_load_explicit(&pool->done, memory_order_acquire)) != chunks) {
    if (spin_while_equal(&pool->done, done)) continue;
    atomic_store(&pool->caller_parked, 1);
    if (atomic_load(&pool->done) == done) sleep_while_equal(&pool->done, done);
    atomic_store(&pool->caller_parked, 0);
  }
}

static int available_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
  return online > 0 ? (int)online : 1;
}

static void release(struct tunesmith_runtime_pool* pool) {
  free(pool->handles);
  free(pool->places);
  free(pool);
}

tunesmith_runtime_pool* tunesmith_runtime_pool_create(int threads) {
  if (threads <= 0) threads = available_processors();
  struct tunesmith_runtime_pool* pool = aligned_alloc(kCacheLine, sizeof *pool);
  if (pool == NULL) return NULL;
  atomic_init(&pool->generation, 0);
  atomic_init(&pool->parked, 0);
  atomic_init(&pool->done, 0);
  atomic_init(&pool->caller_parked, 0);
  atomic_init(&pool->stop, 0);
  atomic_init(&pool->float_mode_changed, 0);
  atomic_flag_clear(&pool->busy);
  pool->stealing = 1;
  pool->avoided = -1;
  pool->threads = 1;
  pool->handles = calloc((size_t)threads, sizeof *pool->handles);
  pool->places = aligned_alloc(kCacheLine, (size_t)threads * sizeof *pool->places);
  if (pool->handles == NULL || pool->places == NULL) {
    release(pool);
    return NULL;
  }
  for (int i = 0; i < threads; ++i) atomic_init(&pool->places[i].taken, 0);
  for (int i = 1; i < threads; ++i) {
    struct worker_start* start = malloc(sizeof *start);
    if (start == NULL) break;
    *start = (struct worker_start){pool, i};
    if (pthread_create(&pool->handles[i], NULL, worker, start) != 0) {
      free(start);
      break;
    }
    pool->threads = i + 1;
  }
  return pool;
}

void tunesmith_runtime_pool_destroy(tunesmith_runtime_pool* pool) {
  if (pool == NULL) return;
  atomic_store(&pool->stop, 1);
  hand_out(pool);
  for (int i = 1; i < pool->threads; ++i) pthread_join(pool->handles[i], NULL);
  release(pool);
}

int tunesmith_runtime_pool_take_mode_change(tunesmith_runtime_pool* pool) {
  return atomic_exchange(&pool->float_mode_changed, 0);
}

void tunesmith_runtime_pool_set_stealing(tunesmith_runtime_pool* pool, int allowed) {
  pool->stealing = allowed;
}

int tunesmith_runtime_pool_threads(const tunesmith_runtime_pool* pool) { return pool->threads; }

void tunesmith_runtime_parallel_for(void* pool_pointer, int64_t count, tunesmith_loop_body body,
                                    void* closure) {
  struct tunesmith_runtime_pool* pool = pool_pointer;
  if (count <= 0) return;
  if (pool == NULL || pool->threads == 1 || count == 1 ||
      atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire)) {
    body(closure, 0, count);
    return;
  }
  pool->count = count;
  pool->body = body;
  pool->closure = closure;
  pool->float_mode = tunesmith_runtime_float_mode();
  atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
  const unsigned generation = hand_out(pool);
  run_chunk(pool, 0);
  /* What a thread has not begun by now (it is asleep, or its processor busy) is done sooner here. */
  unsigned with_workers = 0;
  for (int i = 1; i < pool->threads; ++i) {
    if (pool->stealing && take(&pool->places[i], generation)) {
      run_chunk(pool, i);
    } else {
      ++with_workers;
    }
  }
  wait_for_workers(pool, with_workers);
  atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}
