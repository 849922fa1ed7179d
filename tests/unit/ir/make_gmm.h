// A small hand-written matrix multiplication for tests.
#pragma once

#include <tunesmith/ir/program.h>

namespace tunesmith::test {

/// C[i, j] = sum over k of A[i, k] * B[k, j], with a block "C" under loops i, j, k.
inline Program make_gmm(int64_t n, int64_t m, int64_t k, ExprKind op = ExprKind::Add, double init = 0,
                        DType type = kF32) {
  Program program;
  program.name = "gmm";
  const Buffer a = make_buffer("A", type, {n, k});
  const Buffer b = make_buffer("B", type, {k, m});
  const Buffer c = make_buffer("C", type, {n, m});
  program.inputs = {a, b};
  program.outputs = {c};
  const Var i("i"), j("j"), l("k"), vi("vi"), vj("vj"), vk("vk");
  auto update = std::make_unique<Store>(c, std::vector<Expr>{vi, vj},
                                        binary(op, load(c, {vi, vj}), load(a, {vi, vk}) * load(b, {vk, vj})));
  auto initial = std::make_unique<Store>(c, std::vector<Expr>{vi, vj}, constant(init, type));
  auto block = program.make_block(
      "C", {{vi, n, IterKind::Spatial}, {vj, m, IterKind::Spatial}, {vk, k, IterKind::Reduction}}, {i, j, l},
      std::move(initial), std::move(update));
  StmtPtr body = program.make_loop(l, k, std::move(block));
  body = program.make_loop(j, m, std::move(body));
  program.root().append(program.make_loop(i, n, std::move(body)));
  return program;
}

}  // namespace tunesmith::test
