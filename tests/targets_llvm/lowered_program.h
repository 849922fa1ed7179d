// Hand-written lowered programs, and functions that compile and run them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm_target.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::testing {

/// A target that checks the IR it emits. `options` are written as (name, text).
std::unique_ptr<llvm_target::LlvmTarget> make_target(
    const std::vector<std::pair<std::string, std::string>>& options = {});

/// Converts an index that is stored as a value to the buffer's type.
StmtPtr make_store(const Buffer& buffer, const Expr& index, const Expr& value, const Expr& mask = {});
StmtPtr make_loop(const Var& var, const Expr& min, const Expr& extent, LoopKind kind, StmtPtr body);
StmtPtr make_loop(const Var& var, int64_t extent, LoopKind kind, StmtPtr body);
StmtPtr make_if(const Expr& condition, StmtPtr then_body, StmtPtr else_body = nullptr);
StmtPtr make_allocate(const Buffer& buffer, StmtPtr body);
template <typename... Statements>
StmtPtr make_seq(Statements... statements) {
  std::vector<StmtPtr> list;
  (list.push_back(std::move(statements)), ...);
  return std::make_unique<Seq>(std::move(list));
}

LoweredProgram make_lowered(std::vector<Buffer> inputs, std::vector<Buffer> outputs, StmtPtr body);

/// Compiles, loads and runs once on `threads` threads. `buffers`: data of the inputs, then of the outputs.
void run_compiled(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                  const std::vector<void*>& buffers, int threads = 1);
/// Compiles and loads once, and runs on each element of `calls`.
void run_compiled_each(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                       const std::vector<std::vector<void*>>& calls, int threads = 1);

/// Runs on copies of the arguments that end, and then on copies that begin, at an inaccessible page. Returns
/// the arguments afterwards; throws Error if the two runs differ.
std::vector<Tensor> run_guarded(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                const std::vector<Tensor>& arguments, int threads = 1);
/// The same for a program with parameters at these values. `arguments` are those of `fixed`, the program for
/// these values alone.
std::vector<Tensor> run_guarded_at(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                   const Program& fixed, std::vector<int64_t> values,
                                   const std::vector<Tensor>& arguments, int threads = 1);
/// The largest difference between the program's compiled and interpreted results.
double error_against_interpreter(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                 int threads = 1);

/// C[m, n] = sum of A[m, k] * B[n / nr, k, n % nr], tiles of mr rows and nr columns in registers. B is packed
/// in panels of nr columns. f32.
LoweredProgram gmm_tile_program(int64_t m, int64_t n, int64_t k, int64_t mr, int64_t nr, int64_t vector_lanes,
                                bool parallel = false);

}  // namespace tunesmith::testing
