// Clone and replay of tiled matrix products: what a search does for every candidate.
#include <benchmark/benchmark.h>

#include <tunesmith/trace/schedule.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

/// SSRSRS without a write cache, finished for a CPU.
constexpr const char* kTiled =
    "b = get_block(\"C\")\n"
    "z, i, j, k = get_loops(b)\n"
    "z0, z1, z2, z3 = sample_perfect_tile(z, n=4, max_innermost=64) @ [1, 1, 1, 1]\n"
    "lz0, lz1, lz2, lz3 = split(z, [z0, z1, z2, z3])\n"
    "i0, i1, i2, i3 = sample_perfect_tile(i, n=4, max_innermost=64) @ [8, 4, 4, 4]\n"
    "li0, li1, li2, li3 = split(i, [i0, i1, i2, i3])\n"
    "j0, j1, j2, j3 = sample_perfect_tile(j, n=4, max_innermost=64) @ [4, 4, 2, 16]\n"
    "lj0, lj1, lj2, lj3 = split(j, [j0, j1, j2, j3])\n"
    "k0, k1 = sample_perfect_tile(k, n=2, max_innermost=64) @ [64, 8]\n"
    "lk0, lk1 = split(k, [k0, k1])\n"
    "reorder([lz0, li0, lj0, lz1, li1, lj1, lk0, lz2, li2, lj2, lk1, lz3, li3, lj3])\n"
    "annotate(root, \"parallel_jobs\", 32)\n"
    "annotate(root, \"vectorize\", 64)\n"
    "v = sample_categorical([0, 16, 64, 512], [0.25, 0.25, 0.25, 0.25]) @ 2\n"
    "annotate(root, \"unroll_steps\", v)\n"
    "f = fuse([lz0, li0, lj0])\n"
    "parallel(f)\n"
    "init = decompose_reduction(b, lk0)\n"
    "m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11 = get_loops(b)\n"
    "vectorize(m11)\n"
    "unroll(m10)\n"
    "unroll(m9)\n"
    "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 = get_loops(init)\n"
    "vectorize(n9)\n"
    "unroll(n8)\n"
    "unroll(n7)\n";

/// The same with a write cache at the second spatial level.
constexpr const char* kCached =
    "b = get_block(\"C\")\n"
    "w = cache_write(b, 0, \"local\")\n"
    "z, i, j, k = get_loops(b)\n"
    "z0, z1, z2, z3 = sample_perfect_tile(z, n=4, max_innermost=64) @ [1, 1, 1, 1]\n"
    "lz0, lz1, lz2, lz3 = split(z, [z0, z1, z2, z3])\n"
    "i0, i1, i2, i3 = sample_perfect_tile(i, n=4, max_innermost=64) @ [8, 4, 4, 4]\n"
    "li0, li1, li2, li3 = split(i, [i0, i1, i2, i3])\n"
    "j0, j1, j2, j3 = sample_perfect_tile(j, n=4, max_innermost=64) @ [4, 4, 2, 16]\n"
    "lj0, lj1, lj2, lj3 = split(j, [j0, j1, j2, j3])\n"
    "k0, k1 = sample_perfect_tile(k, n=2, max_innermost=64) @ [64, 8]\n"
    "lk0, lk1 = split(k, [k0, k1])\n"
    "reorder([lz0, li0, lj0, lz1, li1, lj1, lk0, lz2, li2, lj2, lk1, lz3, li3, lj3])\n"
    "reverse_compute_at(w, lj1)\n"
    "annotate(root, \"parallel_jobs\", 32)\n"
    "annotate(root, \"vectorize\", 64)\n"
    "v = sample_categorical([0, 16, 64, 512], [0.25, 0.25, 0.25, 0.25]) @ 2\n"
    "annotate(root, \"unroll_steps\", v)\n"
    "f = fuse([lz0, li0, lj0])\n"
    "parallel(f)\n"
    "init = decompose_reduction(b, lk0)\n"
    "vectorize(lj3)\n"
    "unroll(li3)\n"
    "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 = get_loops(init)\n"
    "vectorize(n9)\n"
    "unroll(n8)\n"
    "unroll(n7)\n"
    "o0, o1, o2, o3, o4, o5 = get_loops(w)\n"
    "vectorize(o5)\n";

/// With both inputs copied tile by tile at the outer reduction loop, too.
constexpr const char* kCopied =
    "b = get_block(\"C\")\n"
    "w = cache_write(b, 0, \"local\")\n"
    "x = cache_read(b, 0, \"local\")\n"
    "y = cache_read(b, 1, \"local\")\n"
    "z, i, j, k = get_loops(b)\n"
    "li0, li1, li2, li3 = split(i, [8, 4, 4, 4])\n"
    "lj0, lj1, lj2, lj3 = split(j, [4, 4, 2, 16])\n"
    "lk0, lk1 = split(k, [64, 8])\n"
    "reorder([z, li0, lj0, li1, lj1, lk0, li2, lj2, lk1, li3, lj3])\n"
    "reverse_compute_at(w, lj1)\n"
    "compute_at(x, lk0)\n"
    "compute_at(y, lk0)\n"
    "init = decompose_reduction(b, lk0)\n";

const Program& product() {
  static const Workload workload = WorkloadLibrary().load("gmm:n=512,m=512,k=512");
  return workload.program;
}

void replay_trace(benchmark::State& state, const char* text) {
  const Program& program = product();
  const Trace trace = Trace::parse(text);
  for (auto _ : state) {
    auto schedule = replay(program, trace);
    if (!schedule.has_value()) {
      state.SkipWithError(schedule.error().what());
      break;
    }
    benchmark::DoNotOptimize(schedule->program().root().children().size());
  }
  state.SetItemsProcessed(state.iterations());
}

void clone_program(benchmark::State& state) {
  const auto schedule = replay(product(), Trace::parse(kTiled));
  for (auto _ : state) benchmark::DoNotOptimize(schedule->program().clone().root().children().size());
}

BENCHMARK_CAPTURE(replay_trace, tiled, kTiled)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replay_trace, cached, kCached)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replay_trace, copied, kCopied)->Unit(benchmark::kMicrosecond);
BENCHMARK(clone_program)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
