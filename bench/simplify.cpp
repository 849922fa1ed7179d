// The simplifier's cost per index expression of a tiled and fused matmul. Every candidate rebuilds them.
#include <benchmark/benchmark.h>

#include <tunesmith/affine/iter_map.h>
#include <tunesmith/affine/region.h>

namespace {

using namespace tunesmith;

struct Nest {
  std::vector<IterDomain> loops;
  Analyzer analyzer;
  Nest() {
    const int64_t extents[] = {4, 8, 2, 16, 4, 4, 8, 2, 8};
    for (const int64_t extent : extents) {
      loops.push_back({Var("l" + std::to_string(loops.size())), extent});
      analyzer.bind(loops.back().var, extent);
    }
  }
  Expr var(size_t i) const { return loops[i].var; }
  /// The binding of an axis split in four.
  Expr tiled() const { return ((var(0) * 8 + var(1)) * 2 + var(2)) * 16 + var(3); }
  /// One half of a fused loop that was split again.
  Expr fused() const { return floormod(var(4) * 32 + var(6) * 4 + var(5), 24) * 16 + var(3); }
};

void run(benchmark::State& state, const Nest& nest, const Expr& expr) {
  for (auto _ : state) benchmark::DoNotOptimize(nest.analyzer.simplify(expr));
}

void canonical_tile(benchmark::State& state) {
  const Nest nest;
  run(state, nest, nest.analyzer.simplify(nest.tiled()));
}
BENCHMARK(canonical_tile);

void nested_tile(benchmark::State& state) {
  const Nest nest;
  run(state, nest, nest.tiled());
}
BENCHMARK(nested_tile);

void fused_and_split(benchmark::State& state) {
  const Nest nest;
  run(state, nest, nest.fused());
}
BENCHMARK(fused_and_split);

void quotient_of_tile(benchmark::State& state) {
  const Nest nest;
  run(state, nest, floordiv(nest.tiled(), 32) * 32 + floormod(nest.tiled(), 16));
}
BENCHMARK(quotient_of_tile);

void bound_check(benchmark::State& state) {
  const Nest nest;
  const Expr condition = lt(nest.tiled(), 1024);
  for (auto _ : state) benchmark::DoNotOptimize(nest.analyzer.can_prove(condition));
}
BENCHMARK(bound_check);

void relax_tile(benchmark::State& state) {
  const Nest nest;
  const std::vector<Var> moving{nest.loops[2].var, nest.loops[3].var};
  const Expr index = nest.analyzer.simplify(nest.tiled());
  for (auto _ : state) benchmark::DoNotOptimize(relax(index, moving, nest.analyzer));
}
BENCHMARK(relax_tile);

void iter_map_of_tiled_matmul(benchmark::State& state) {
  const Nest nest;
  const std::vector<Expr> bindings{nest.analyzer.simplify(nest.tiled()), nest.var(4) * 4 + nest.var(5),
                                   (nest.var(6) * 2 + nest.var(7)) * 8 + nest.var(8)};
  const std::vector<int64_t> extents{1024, 16, 128};
  const Expr always = bool_imm(true);
  for (auto _ : state) benchmark::DoNotOptimize(check_iter_map(bindings, extents, nest.loops, always));
}
BENCHMARK(iter_map_of_tiled_matmul);

}  // namespace

BENCHMARK_MAIN();
