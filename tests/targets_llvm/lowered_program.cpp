#include "lowered_program.h"

#include <cstdlib>

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/runtime/pool.h"

namespace tunesmith::testing {

std::unique_ptr<llvm_target::LlvmTarget> make_target(
    const std::vector<std::pair<std::string, std::string>>& options) {
  const auto specs = llvm_target::TargetOptions::specs();
  std::vector<RawOption> written;
  const auto write = [&](const std::string& name, const std::string& text) {
    RawOption& option = written.emplace_back();
    option.name = name;
    option.values.emplace_back().text = text;
  };
  write("verify", "true");
  for (const auto& [name, text] : options) write(name, text);
  return std::make_unique<llvm_target::LlvmTarget>(Options::validate(specs, written, "target 'llvm'"));
}

StmtPtr make_store(const Buffer& buffer, const Expr& index, const Expr& value, const Expr& mask) {
  const Expr data = value.dtype().is_index() ? cast(buffer->dtype, value) : value;
  return std::make_unique<Store>(buffer, std::vector<Expr>{index}, data, mask);
}

StmtPtr make_loop(const Var& var, const Expr& min, const Expr& extent, LoopKind kind, StmtPtr body) {
  static uint32_t next = 1;
  auto loop = std::make_unique<Loop>(LoopId{next++}, var, min, extent, std::move(body));
  loop->loop_kind = kind;
  return loop;
}

StmtPtr make_loop(const Var& var, int64_t extent, LoopKind kind, StmtPtr body) {
  return make_loop(var, Expr(0), Expr(extent), kind, std::move(body));
}

StmtPtr make_if(const Expr& condition, StmtPtr then_body, StmtPtr else_body) {
  return std::make_unique<If>(condition, std::move(then_body), std::move(else_body));
}

StmtPtr make_allocate(const Buffer& buffer, StmtPtr body) {
  return std::make_unique<Allocate>(buffer, std::move(body));
}

LoweredProgram make_lowered(std::vector<Buffer> inputs, std::vector<Buffer> outputs, StmtPtr body) {
  LoweredProgram lowered;
  lowered.program.name = "test";
  lowered.program.inputs = std::move(inputs);
  lowered.program.outputs = std::move(outputs);
  lowered.program.root().append(std::move(body));
  return lowered;
}

void run_compiled(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                  const std::vector<void*>& buffers, int threads) {
  run_compiled_each(target, lowered, {buffers}, threads);
}

void run_compiled_each(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                       const std::vector<std::vector<void*>>& calls, int threads) {
  const auto compiled = target.compile(lowered, "kernel");
  if (!compiled) throw Error(compiled.error());
  const auto loaded = target.load(*compiled);
  void* workspace = std::aligned_alloc(64, static_cast<size_t>(compiled->workspace_bytes + 64));
  tunesmith_runtime_pool* pool = tunesmith_runtime_pool_create(threads);
  for (const std::vector<void*>& buffers : calls)
    loaded->entry()(buffers.data(), workspace, tunesmith_runtime_parallel_for, pool);
  tunesmith_runtime_pool_destroy(pool);
  std::free(workspace);
  if (const auto fault = loaded->take_fault()) throw Error(fault->message);
}

LoweredProgram gmm_tile_program(int64_t m, int64_t n, int64_t k, int64_t mr, int64_t nr, int64_t vector_lanes,
                                bool parallel) {
  const auto lanes = static_cast<int>(vector_lanes);
  const Buffer a = make_buffer("A", kF32, {m * k}), b = make_buffer("B", kF32, {n * k}),
               c = make_buffer("C", kF32, {m * n});
  const Buffer acc = make_buffer("acc", kF32, {mr * nr}, kScopeRegister);
  const Var jo("jo"), io("io"), kk("k"), i0("i0"), v0("v0"), i1("i1"), v1("v1"), i2("i2"), v2("v2");
  const auto unrolled = [&](const Var& i, const Var& v, StmtPtr body) {
    return make_loop(i, mr, LoopKind::Unrolled,
                     make_loop(v, nr / lanes, LoopKind::Unrolled, std::move(body)));
  };
  const auto slot = [&](const Expr& i, const Expr& v) { return ramp(i * nr + v * vector_lanes, 1, lanes); };
  StmtPtr zero = unrolled(i0, v0, make_store(acc, slot(i0, v0), float_imm(0.0, kF32.with_lanes(lanes))));
  const Expr a_value = broadcast(load(a, {(io * mr + i1) * k + kk}), lanes);
  const Expr b_value = load(b, {ramp((jo * k + kk) * nr + v1 * vector_lanes, 1, lanes)});
  StmtPtr update = make_loop(
      kk, k, LoopKind::Serial,
      unrolled(i1, v1, make_store(acc, slot(i1, v1), load(acc, {slot(i1, v1)}) + a_value * b_value)));
  StmtPtr write = unrolled(i2, v2,
                           make_store(c, ramp((io * mr + i2) * n + jo * nr + v2 * vector_lanes, 1, lanes),
                                      load(acc, {slot(i2, v2)})));
  StmtPtr tile =
      std::make_unique<Allocate>(acc, make_seq(std::move(zero), std::move(update), std::move(write)));
  StmtPtr loops = make_loop(jo, n / nr, parallel ? LoopKind::Parallel : LoopKind::Serial,
                            make_loop(io, m / mr, LoopKind::Serial, std::move(tile)));
  return make_lowered({a, b}, {c}, std::move(loops));
}

}  // namespace tunesmith::testing
