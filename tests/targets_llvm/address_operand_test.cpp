// Compares compiled tensor intrinsics with the interpreter: operands of any row stride, by value and address.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"
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
    std::vector<Tensor> expected = test::random_arguments(of.program);
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
  // Inlined code says which memory it accesses.
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
    EXPECT_THAT(error.what(), HasSubstr("an operand's layout differs from the intrinsic's"));
  }
}

struct Row {
  const char* dtype;
  const char* type;    // of LLVM
  const char* negate;  // of %X, in LLVM IR
  int64_t lanes;
};

class RowsOfEveryWidth : public ::testing::TestWithParam<Row> {};

// Of 1, 2, 3, 4, 8, 12, 16 and 24 bytes: an element, an integer, and vectors with and without a register.
INSTANTIATE_TEST_SUITE_P(
    All, RowsOfEveryWidth,
    ::testing::Values(
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 1},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 2},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 3},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 4},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 8},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 12},
        Row{"i8", "i8", "sub <{0} x i8> zeroinitializer, %X", 16},
        Row{"f16", "half", "fneg <{0} x half> %X", 1}, Row{"f16", "half", "fneg <{0} x half> %X", 2},
        Row{"f16", "half", "fneg <{0} x half> %X", 3}, Row{"f16", "half", "fneg <{0} x half> %X", 4},
        Row{"f16", "half", "fneg <{0} x half> %X", 6}, Row{"f16", "half", "fneg <{0} x half> %X", 8},
        Row{"bf16", "i16", "xor <{0} x i16> %X, splat (i16 -32768)", 2},
        Row{"bf16", "i16", "xor <{0} x i16> %X, splat (i16 -32768)", 3},
        Row{"bf16", "i16", "xor <{0} x i16> %X, splat (i16 -32768)", 4},
        Row{"f32", "float", "fneg <{0} x float> %X", 2}, Row{"f32", "float", "fneg <{0} x float> %X", 3},
        Row{"f32", "float", "fneg <{0} x float> %X", 4}, Row{"f64", "double", "fneg <{0} x double> %X", 3}),
    [](const auto& tested) { return fmt::format("{}_of_{}", tested.param.lanes, tested.param.dtype); });

TEST_P(RowsOfEveryWidth, AreGatheredAndScattered) {
  const Row& row = GetParam();
  const auto target = testing::make_target();
  for (const int64_t rows : {int64_t{2}, int64_t{3}, int64_t{16}}) {
    SCOPED_TRACE(fmt::format("{} rows", rows));
    const auto extension = ExtensionFile::parse(
        fmt::format("extension: rows\ntarget: llvm\nintrinsics:\n  - name: rows_negated\n    semantics:\n"
                    "      inputs: {{X: {{shape: [{0}, {1}], dtype: {2}}}}}\n"
                    "      compute: \"O[i<{0}, j<{1}] = 0 - X[i, j]\"\n      outputs: [O]\n"
                    "    operands: {{X: {{strides: [1n, 1]}}, O: {{strides: [1n, 1]}}}}\n"
                    "    implementation:\n      arguments: [X]\n      fragment: |\n"
                    "        %r = {3}\n        ret <{4} x {5}> %r\n",
                    rows, row.lanes, row.dtype, fmt::format(fmt::runtime(row.negate), rows * row.lanes),
                    rows * row.lanes, row.type),
        "rows.yaml");
    LowerOptions options = target->lower_options();
    extension->adapt(options);
    // Each row of the outputs has a neighbour that another call stores.
    const Workload workload =
        WorkloadDefinition::parse(
            fmt::format("name: test\ninputs: {{A: {{shape: [{0}, {1}], dtype: {2}}}}}\ncompute: |\n"
                        "  O[i<{0}, j<{3}] = 0 - A[i, j]\noutputs: [O]\n",
                        2 * rows, 2 * row.lanes + 1, row.dtype, 2 * row.lanes),
            "test.yaml")
            .instantiate();
    auto schedule = replay(workload.program,
                           Trace::parse(fmt::format(
                               "o = get_block(\"O\")\ni, j = get_loops(o)\ni0, i1 = split(i, [None, {}])\n"
                               "j0, j1 = split(j, [None, {}])\nreorder([i0, j0, i1, j1])\nb = blockize(i1)\n"
                               "t = tensorize(b, \"rows_negated\")\n",
                               rows, row.lanes)));
    ASSERT_TRUE(schedule) << schedule.error().what();
    const LoweredProgram lowered = lower(schedule->program().clone(), options);
    EXPECT_EQ(testing::error_against_interpreter(*target, lowered), 0.0);
    EXPECT_THAT(target->ir(lowered, "kernel"),
                HasSubstr(fmt::format("<{} x {}>", rows * row.lanes, row.type)));
  }
}

TEST(RowsOfFourBytes, ReachAnIntrinsicAsTheyLie) {
  const auto extension = ExtensionFile::parse(
      "extension: rows\ntarget: llvm\nrequires: [avx512vnni]\nintrinsics:\n  - name: rows_dot_16x4\n    "
      "semantics:\n"
      "      inputs: {A: {shape: [4], dtype: u8}, B: {shape: [16, 4], dtype: i8}}\n"
      "      compute: \"C[j<16] = sum(k<4) i32(A[k]) * i32(B[j, k])\"\n      outputs: [C]\n"
      "    operands: {B: {strides: [4n, 1]}}\n"
      "    implementation: {intrinsic: llvm.x86.avx512.vpdpbusd.512, arguments: [C, A, B]}\n",
      "rows.yaml");
  const auto target = testing::make_target();
  if (!extension->probe(*target).here()) GTEST_SKIP() << "no " << extension->probe(*target).missing;
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  const Workload product = WorkloadDefinition::parse(
                               "name: test\ninputs: {A: {shape: [5, 12], dtype: u8}, B: {shape: [32, 12], "
                               "dtype: i8}}\ncompute: |\n"
                               "  O[i<5, j<32] = sum(k<12) i32(A[i, k]) * i32(B[j, k])\noutputs: [O]\n",
                               "test.yaml")
                               .instantiate();
  auto schedule =
      replay(product.program, Trace::parse("o = get_block(\"O\")\ni, j, k = get_loops(o)\n"
                                           "j0, j1 = split(j, [None, 16])\nk0, k1 = split(k, [None, 4])\n"
                                           "reorder([j0, k0, j1, k1])\nd = decompose_reduction(o, k0)\n"
                                           "t = tensorize(j1, \"rows_dot_16x4\")\n"));
  ASSERT_TRUE(schedule) << schedule.error().what();
  const LoweredProgram lowered = lower(schedule->program().clone(), options);
  EXPECT_THAT(target->assembly(lowered, "kernel"), HasSubstr("vpdpbusd"));
  EXPECT_EQ(testing::error_against_interpreter(*target, lowered), 0.0);
}

}  // namespace
}  // namespace tunesmith
