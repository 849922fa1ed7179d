// Operands of tensor intrinsics whose rows are any distance apart, as values and as addresses, compiled,
// against the interpreter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/interp/interpreter.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStrided = R"yaml(extension: strided
target: llvm
intrinsics:
  - name: strided_values
    semantics:
      inputs: {X: {shape: [2, 3], dtype: f64}}
      compute: "O[i<2, j<3] = X[i, j]"
      outputs: [O]
    operands: {X: {strides: [2n, 1]}, O: {strides: [3n, 1]}}
    implementation: {arguments: [X], fragment: "ret <6 x double> %X"}
  - name: strided_column
    semantics:
      inputs: {X: {shape: [4], dtype: f64}}
      compute: "O[i<4] = X[i]"
      outputs: [O]
    operands: {X: {strides: [1n]}, O: {strides: [1n]}}
    implementation: {arguments: [X], fragment: "ret <4 x double> %X"}
  - name: strided_addresses
    semantics:
      inputs: {X: {shape: [2, 3], dtype: f64}}
      compute: "O[i<2, j<3] = X[i, j]"
      outputs: [O]
    operands: {X: {strides: [2n, 1], pass: address}, O: {strides: [3n, 1], pass: address}}
    implementation:
      fragment: |
        entry:
          br label %row
        row:
          %i = phi i64 [ 0, %entry ], [ %next, %row ]
          %from = mul i64 %i, %X_stride
          %to = mul i64 %i, %O_stride
          %x = getelementptr double, ptr %X, i64 %from
          %o = getelementptr double, ptr %O, i64 %to
          %v = load <3 x double>, ptr %x, align 8
          store <3 x double> %v, ptr %o, align 8
          %next = add i64 %i, 1
          %more = icmp ult i64 %next, 2
          br i1 %more, label %row, label %done
        done:
          ret void
  - name: strided_product
    semantics:
      inputs: {A: {shape: [2, 2], dtype: f64}, B: {shape: [2, 2], dtype: f64}}
      compute: "C[i<2, j<2] = sum(k<2) A[i, k] * B[k, j]"
      outputs: [C]
    operands: {A: {strides: [1n, 1], pass: address}, B: {strides: [1n, 1], pass: address}, C: {strides: [1n, 1]}}
    implementation:
      arguments: [A, B, C]
      fragment: |
        declare <4 x double> @llvm.fma.v4f64(<4 x double>, <4 x double>, <4 x double>)
        %a1 = getelementptr double, ptr %A, i64 %A_stride
        %b1 = getelementptr double, ptr %B, i64 %B_stride
        %r0 = load <2 x double>, ptr %A, align 8
        %r1 = load <2 x double>, ptr %a1, align 8
        %s0 = load <2 x double>, ptr %B, align 8
        %s1 = load <2 x double>, ptr %b1, align 8
        %k0 = shufflevector <2 x double> %r0, <2 x double> %r1, <4 x i32> <i32 0, i32 0, i32 2, i32 2>
        %k1 = shufflevector <2 x double> %r0, <2 x double> %r1, <4 x i32> <i32 1, i32 1, i32 3, i32 3>
        %j0 = shufflevector <2 x double> %s0, <2 x double> poison, <4 x i32> <i32 0, i32 1, i32 0, i32 1>
        %j1 = shufflevector <2 x double> %s1, <2 x double> poison, <4 x i32> <i32 0, i32 1, i32 0, i32 1>
        %c0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %k0, <4 x double> %j0, <4 x double> %C)
        %c1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %k1, <4 x double> %j1, <4 x double> %c0)
        ret <4 x double> %c1
)yaml";

class AddressOperands : public ::testing::Test {
 protected:
  AddressOperands() { extension->adapt(options); }

  static Workload workload(const std::string& inputs, const std::string& compute) {
    const std::string text =
        fmt::format("name: test\ninputs: {}\ncompute: |\n  {}\noutputs: [O]\n", inputs, compute);
    return WorkloadDefinition::parse(text, "test.yaml").instantiate();
  }

  LoweredProgram lowered(const Workload& of, const std::string& trace) const {
    auto schedule = replay(of.program, Trace::parse(trace));
    if (!schedule) throw Error(schedule.error().what());
    return lower(schedule->program().clone(), options);
  }

  void expect_right(const Workload& of, const LoweredProgram& program, int threads = 1) {
    std::vector<Tensor> expected = testing::make_arguments(of.program);
    std::vector<Tensor> interpreted = expected;
    const std::vector<Tensor> got = testing::run_guarded(*target, program, expected, threads);
    interpret(of.program, expected);
    interpret(program.program, interpreted);
    EXPECT_LE(max_error(interpreted.back(), expected.back()), 1e-12);
    EXPECT_LE(max_error(got.back(), expected.back()), 1e-12);
  }

  std::shared_ptr<ExtensionFile> extension = ExtensionFile::parse(kStrided, "strided.yaml");
  std::unique_ptr<llvm_target::LlvmTarget> target = testing::make_target();
  LowerOptions options = target->lower_options();
};

constexpr const char* kCopyTrace =
    "o = get_block(\"O\")\ni, j = get_loops(o)\ni0, i1 = split(i, [None, 2])\nj0, j1 = split(j, [None, 3])\n"
    "reorder([i0, j0, i1, j1])\nb = blockize(i1)\nt = tensorize(b, \"{}\")\nparallel(i0)\n";

TEST_F(AddressOperands, RowsOfAnyDistanceAreGatheredAndScattered) {
  const Workload copy = workload("{A: {shape: [4, 8], dtype: f64}}", "O[i<4, j<6] = A[i, j]");
  for (const char* name : {"strided_values", "strided_addresses"}) {
    SCOPED_TRACE(name);
    expect_right(copy, lowered(copy, fmt::format(fmt::runtime(kCopyTrace), name)), 2);
  }
}

TEST_F(AddressOperands, SoAreElements) {
  const Workload turned = workload("{A: {shape: [4, 6], dtype: f64}}", "O[j<6, i<4] = A[i, j]");
  expect_right(turned, lowered(turned,
                               "o = get_block(\"O\")\nj, i = get_loops(o)\n"
                               "b = blockize(i)\nt = tensorize(b, \"strided_column\")\n"));
}

TEST_F(AddressOperands, SumsStayValuesWhileFactorsAreLoadedThroughAddresses) {
  const Workload product = workload("{A: {shape: [4, 6], dtype: f64}, B: {shape: [6, 4], dtype: f64}}",
                                    "O[i<4, j<4] = sum(r<6) A[i, r] * B[r, j]");
  const LoweredProgram program =
      lowered(product,
              "o = get_block(\"O\")\nc = cache_write(o, 0, \"local\")\ni, j, r = get_loops(o)\n"
              "i0, i1 = split(i, [None, 2])\nj0, j1 = split(j, [None, 2])\nr0, r1 = split(r, [None, 2])\n"
              "reorder([i0, j0, r0, i1, j1, r1])\nreverse_compute_at(c, j0)\n"
              "d = decompose_reduction(o, r0)\nt = tensorize(i1, \"strided_product\")\n");
  expect_right(product, program);
  // What is inlined says whose memory it touches.
  const std::string ir = target->ir(program, "kernel");
  EXPECT_THAT(ir, ::testing::ContainsRegex("load <2 x double>, ptr [^\n]*!alias.scope"));
  EXPECT_THAT(ir, ::testing::ContainsRegex("load <2 x double>, ptr [^\n]*!noalias"));
}

TEST_F(AddressOperands, OrderOfStatementsOnOneBufferIsKept) {
  const Workload stages = workload("{A: {shape: [2, 6], dtype: f64}}",
                                   "S[i<2, j<6] = A[i, j] + A[i, j]\n  T[i<2, j<6] = S[i, j]\n"
                                   "  O[i<2, j<6] = T[i, j] * S[i, j]");
  expect_right(stages, lowered(stages,
                               "s = get_block(\"S\")\nt = get_block(\"T\")\ni, j = get_loops(t)\n"
                               "j0, j1 = split(j, [None, 3])\nreorder([j0, i, j1])\nb = blockize(i)\n"
                               "u = tensorize(b, \"strided_addresses\")\n"));
}

TEST_F(AddressOperands, DistancesThatTheFileDoesNotAllowAreRefused) {
  const Workload copy = workload("{A: {shape: [4, 7], dtype: f64}}", "O[i<4, j<6] = A[i, j]");
  EXPECT_THROW(lowered(copy, fmt::format(fmt::runtime(kCopyTrace), "strided_addresses")), Error);
  try {
    lowered(copy, fmt::format(fmt::runtime(kCopyTrace), "strided_addresses"));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("an operand does not lie as the intrinsic wants it"));
  }
}

}  // namespace
}  // namespace tunesmith
