// Compares compiled tensor intrinsics with the interpreter.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "lowered_program.h"
#include "packs/pack_file.h"
#include "random_arguments.h"
#include "space/compile_intrinsics.h"
#include "temporary_folder.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/trace/single_call.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

Program scheduled(const Program& program, const std::string& trace) {
  auto schedule = replay(program, Trace::parse(trace));
  if (!schedule) throw std::runtime_error(schedule.error().what());
  return schedule->program().clone();
}

size_t calls_in(const LoweredProgram& lowered) {
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  return collect<Loop>(lowered.program.root(), is_call).size();
}

/// A product of `dtype` by `b_dtype`, B packed in panels of 16 columns by `depth` steps.
std::string packed_product(int64_t depth, const std::string& intrinsic) {
  return fmt::format(
      "c = get_block(\"C\")\n"
      "p = cache_read(c, 1, \"global\")\n"
      "transform_layout(p, \"write\", 0, \"(z, r, j) -> (z, j // 16, r // {0}, j % 16, r % {0})\")\n"
      "z, i, j, r = get_loops(c)\n"
      "i0, i1 = split(i, [None, 3])\n"
      "j0, j1, j2 = split(j, [None, 2, 16])\n"
      "r0, r1 = split(r, [None, {0}])\n"
      "reorder([z, i0, j0, r0, i1, j1, j2, r1])\n"
      "init = decompose_reduction(c, r0)\n"
      "t = tensorize(j2, \"{1}\")\n"
      "unroll(i1)\n"
      "unroll(j1)\n"
      "parallel(i0)\n",
      depth, intrinsic);
}

struct Pack {
  const char* extension;
  const char* workload;
  int64_t depth;
  const char* intrinsic;
  const char* instruction;
};

class BuiltInPack : public ::testing::TestWithParam<Pack> {};

INSTANTIATE_TEST_SUITE_P(
    All, BuiltInPack,
    ::testing::Values(Pack{"vnni", "gmm:n=9,m=64,k=20,dtype=u8,b_dtype=i8", 4, "vnni_dot_16x4", "vpdpbusd"},
                      Pack{"bf16_dot", "gmm:n=9,m=64,k=22,dtype=bf16", 2, "bf16_dot_16x2", "vdpbf16ps"}),
    [](const auto& tested) { return std::string(tested.param.extension); });

TEST_P(BuiltInPack, GivesTheInterpretersResult) {
  const Pack& pack = GetParam();
  const auto extension = ExtensionFile::load(pack_file(pack.extension));
  const Workload workload = WorkloadLibrary().load(pack.workload);
  const Program program = scheduled(workload.program, packed_product(pack.depth, pack.intrinsic));
  const auto target = testing::make_target();
  std::vector<Tensor> expected = test::random_arguments(workload.program);
  const std::vector<Tensor> arguments = expected;
  interpret(workload.program, expected);
  const auto expect_right = [&](const Tensor& got) {
    const double unit = got.dtype.is_float() ? unit_roundoff(got.dtype) : 0.0;
    EXPECT_LE(max_error(got, expected.back()), unit * 400);
  };

  // First the call's semantics, on every processor; then the processor's instruction.
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  const LoweredProgram called = lower(program, options);
  EXPECT_GT(calls_in(called), 0U);
  std::vector<Tensor> interpreted = arguments;
  interpret(called.program, interpreted);
  expect_right(interpreted.back());
  const LoweredProgram plain = lower(program, target->lower_options());
  EXPECT_EQ(calls_in(plain), 0U);
  expect_right(testing::run_guarded(*target, plain, arguments, 2).back());
  if (!extension->probe(*target).here()) GTEST_SKIP() << "no " << extension->probe(*target).missing;
  expect_right(testing::run_guarded(*target, called, arguments, 2).back());
  EXPECT_THAT(target->assembly(called, "kernel"), ::testing::HasSubstr(pack.instruction));
}

TEST(TensorIntrinsic, Fragments) {
  const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/intrinsics.yaml");
  const auto target = testing::make_target();
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  struct Case {
    const char* inputs;
    const char* compute;
    const char* trace;
  };
  const Case cases[] = {
      {"{A: {shape: [4, 3], dtype: f64}, B: {shape: [6, 3], dtype: f64}}",
       "O[i<4, j<6] = sum(r<3) B[j, r] * A[i, r]",
       "o = get_block(\"O\")\ni, j, r = get_loops(o)\nj0, j1 = split(j, [None, 2])\n"
       "d = decompose_reduction(o, j1)\nt = tensorize(j1, \"test_dot_2x3\")\n"},
      {"{A: {shape: [4, 5], dtype: f64}, B: {shape: [5, 6], dtype: f64}}",
       "O[i<4, j<6] = sum(r<5) A[i, r] * B[r, j]",
       "o = get_block(\"O\")\ni, j, r = get_loops(o)\nj0, j1 = split(j, [None, 2])\nreorder([r, j1])\n"
       "d = decompose_reduction(o, r)\nt = tensorize(j1, \"test_axpy_2\")\nunroll(j0)\n"},
      {"{A: {shape: [4, 6], dtype: f64}}", "O[i<4] = sum(r<6) A[i, r]",
       "o = get_block(\"O\")\ni, r = get_loops(o)\nr0, r1 = split(r, [None, 2])\n"
       "d = decompose_reduction(o, r0)\nt = tensorize(r1, \"test_sum_2\")\n"},
      {"{A: {shape: [4, 6], dtype: f64}}", "O[i<4, j<6] = A[i, j]",
       "o = get_block(\"O\")\ni, j = get_loops(o)\nj0, j1 = split(j, [None, 3])\n"
       "b = blockize(j1)\nt = tensorize(b, \"test_copy_3\")\nparallel(i)\n"},
      // A column of pairs becomes rows; the loops stand the other way round.
      {"{A: {shape: [3, 2, 2], dtype: f64}}", "O[i<3, j<2, k<2] = A[i, k, j]",
       "o = get_block(\"O\")\ni, j, k = get_loops(o)\nreorder([k, j])\n"
       "t = tensorize(k, \"test_transpose_2x2\")\n"},
  };
  for (const Case& one : cases) {
    const std::string text =
        fmt::format("name: test\ninputs: {}\ncompute: |\n  {}\noutputs: [O]\n", one.inputs, one.compute);
    const Workload workload = WorkloadDefinition::parse(text, "test.yaml").instantiate();
    const LoweredProgram lowered = lower(scheduled(workload.program, one.trace), options);
    EXPECT_EQ(calls_in(lowered), 1U);
    std::vector<Tensor> expected = test::random_arguments(workload.program);
    std::vector<Tensor> interpreted = expected;
    const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
    interpret(workload.program, expected);
    interpret(lowered.program, interpreted);
    EXPECT_LE(max_error(got.back(), expected.back()), 1e-12) << one.compute;
    EXPECT_LE(max_error(interpreted.back(), expected.back()), 1e-12) << one.compute;
    // The fragment is inlined completely.
    EXPECT_THAT(target->assembly(lowered, "kernel"),
                ::testing::Not(::testing::HasSubstr("tensor_intrinsic")));
  }
}

/// The compiler's message for a copy of three elements by this implementation.
std::string complaint(const std::string& implementation) {
  const test::TemporaryFolder folder;
  const auto path = folder / "wrong_intrinsic.yaml";
  std::ofstream(path) << "extension: wrong\ntarget: llvm\nintrinsics:\n  - name: wrong\n    semantics: |\n"
                         "      inputs: {X: {shape: [3], dtype: f64}}\n      compute: |\n"
                         "        O[i<3] = X[i]\n      outputs: [O]\n    implementation: "
                      << implementation << "\n";
  const auto extension = ExtensionFile::load(path);
  const auto target = testing::make_target();
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  const Workload workload = WorkloadDefinition::parse(
                                "name: test\ninputs: {A: {shape: [3], dtype: f64}}\ncompute: |\n"
                                "  O[i<3] = A[i]\noutputs: [O]\n",
                                "test.yaml")
                                .instantiate();
  const LoweredProgram lowered = lower(
      scheduled(workload.program, "o = get_block(\"O\")\ni = get_loops(o)\nt = tensorize(i, \"wrong\")\n"),
      options);
  const auto compiled = target->compile(lowered, "kernel");
  return compiled ? "" : compiled.error();
}

TEST(TensorIntrinsic, WrongImplementationsAreCompileErrors) {
  EXPECT_THAT(complaint("{intrinsic: llvm.x86.none, arguments: [X]}"),
              ::testing::HasSubstr("LLVM has no intrinsic llvm.x86.none of fixed types"));
  EXPECT_THAT(complaint("{intrinsic: llvm.x86.avx512.vpdpbusd.512, arguments: [X]}"),
              ::testing::HasSubstr("takes 3 arguments, not 1"));
  EXPECT_THAT(complaint("{intrinsic: llvm.x86.sse2.pause, arguments: []}"),
              ::testing::HasSubstr("is not stored as <3 x double>"));
  EXPECT_THAT(complaint("{fragment: ret <3 x double> %Y, arguments: [X]}"),
              ::testing::HasSubstr("use of undefined value '%Y'"));
  EXPECT_THAT(complaint("{fragment: ret <3 x double> %X, arguments: [X]}"), ::testing::IsEmpty());
}

/// A sum of four elements by inline assembly.
std::string assembly_fragment(const std::string& assembly, const std::string& constraints) {
  return fmt::format(
      "extension: by_assembly\ntarget: llvm\nintrinsics:\n  - name: by_assembly\n    semantics: |\n"
      "      inputs: {{X: {{shape: [4], dtype: f32}}, Y: {{shape: [4], dtype: f32}}}}\n      compute: |\n"
      "        O[i<4] = X[i] + Y[i]\n      outputs: [O]\n    implementation:\n      arguments: [X, Y]\n"
      "      fragment: |\n        ; adds\n        %r = call <4 x float> asm \"{}\", \"{}\"(<4 x float> %X, "
      "<4 x float> %Y)\n"
      "        ret <4 x float> %r\n",
      assembly, constraints);
}

LoweredProgram lowered_call(const std::shared_ptr<ExtensionFile>& extension, const Target& target) {
  LowerOptions options = target.lower_options();
  extension->adapt(options);
  return lower(single_call(extension->intrinsics().front()), options);
}

TEST(TensorIntrinsic, InlineAssembly) {
  const auto target = testing::make_target();
  const auto extension =
      ExtensionFile::parse(assembly_fragment("vaddps $2, $1, $0", "=x,x,x,~{xmm0},~{xmm5}"), "assembly.yaml");
  const LoweredProgram lowered = lowered_call(extension, *target);
  EXPECT_LE(testing::error_against_interpreter(*target, lowered), 0.0);
  EXPECT_THAT(target->assembly(lowered, "kernel"), ::testing::HasSubstr("vaddps"));
}

TEST(TensorIntrinsic, WrongAssemblyIsACompileErrorWithItsLine) {
  const auto target = testing::make_target();
  const auto complaint_of = [&](const std::string& assembly, const std::string& constraints) {
    const auto extension = ExtensionFile::parse(assembly_fragment(assembly, constraints), "assembly.yaml");
    const auto compiled = target->compile(lowered_call(extension, *target), "kernel");
    return compiled ? "" : compiled.error();
  };
  const std::string place = "assembly.yaml:14: tensor intrinsic by_assembly: ";
  EXPECT_EQ(complaint_of("vadddps $2, $1, $0", "=x,x,x"),
            place + "invalid instruction mnemonic 'vadddps': vadddps %xmm1, %xmm0, %xmm0");
  EXPECT_THAT(complaint_of("vaddps $2, $1, $0", "={nowhere},x,x"), ::testing::StartsWith(place + "could"));
  // The compiler still works.
  EXPECT_EQ(complaint_of("vaddps $2, $1, $0", "=x,x,x"), "");
}

/// An instruction of another processor, which the compiler refuses here.
constexpr const char* kEndsTheCompiler =
    "extension: {0}\ntarget: llvm\nintrinsics:\n"
    "  - name: {0}_good\n    semantics: {{inputs: {{X: {{shape: [4], dtype: f32}}}}, compute: \"O[i<4] = "
    "X[i]\", outputs: [O]}}\n"
    "    implementation: {{fragment: \"ret <4 x float> %X\", arguments: [X]}}\n"
    "  - name: {0}_bad\n    semantics: {{inputs: {{X: {{shape: [4], dtype: f32}}}}, compute: \"O[i<4] = "
    "X[i]\", outputs: [O]}}\n"
    "    implementation:\n      arguments: [X]\n      fragment: |\n"
    "        declare <4 x float> @llvm.aarch64.neon.fabd.v4f32(<4 x float>, <4 x float>)\n"
    "        %r = call <4 x float> @llvm.aarch64.neon.fabd.v4f32(<4 x float> %X, <4 x float> %X)\n"
    "        ret <4 x float> %r\n"
    "  - name: {0}_last\n    semantics: {{inputs: {{X: {{shape: [4], dtype: f32}}}}, compute: \"O[i<4] = "
    "X[i]\", outputs: [O]}}\n"
    "    implementation: {{fragment: \"ret <4 x float> %X\", arguments: [X]}}\n";

TEST(RefusedIntrinsics, WhatEndsTheCompilerIsTakenAwayByName) {
  const auto target = testing::make_target();
  const auto extension = ExtensionFile::parse(fmt::format(kEndsTheCompiler, "ends"), "ends.yaml");
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  Extensions extensions{{"ends", extension->intrinsics()}};
  const auto refused = take_away_refused(*target, extensions, options);
  EXPECT_EQ(extensions.at("ends"), options.intrinsics);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].name, "ends_bad");
  EXPECT_THAT(refused[0].str(),
              ::testing::StartsWith(
                  "ends.yaml:12:9: extension 'ends': tensor intrinsic ends_bad cannot be compiled: the "
                  "compiler failed (Aborted): LLVM ERROR: Cannot select: intrinsic %llvm.aarch64.neon.fabd"));
  EXPECT_EQ(options.intrinsics,
            (std::vector<TensorIntrinsicPtr>{extension->intrinsics()[0], extension->intrinsics()[2]}));
  const Program program = single_call(extension->intrinsics()[1]);
  EXPECT_EQ(called_refused(program, refused, options.intrinsics), refused.data());
  EXPECT_EQ(called_refused(single_call(extension->intrinsics()[0]), refused, options.intrinsics), nullptr);
  EXPECT_EQ(called_refused(program, refused, extension->intrinsics()), nullptr) << "another has the name";
}

TEST(RefusedIntrinsics, TheFeatureThatIsMissingIsNamed) {
  const auto target = testing::make_target({{"mcpu", "x86-64-v3"}});
  const auto extension = ExtensionFile::load(pack_file("vnni"));
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  Extensions extensions{{"vnni", extension->intrinsics()}};
  const auto refused = take_away_refused(*target, extensions, options);
  EXPECT_TRUE(extensions.empty()) << "nothing of it is left";
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].str(),
              ::testing::AllOf(::testing::HasSubstr("vnni.yaml:15:"), ::testing::HasSubstr("LLVM ERROR: "),
                               ::testing::HasSubstr("a processor with avx512vnni, which the target lacks: "
                                                    "declare it with requires: [avx512vnni]")));
  EXPECT_TRUE(options.intrinsics.empty());
}

TEST(RefusedIntrinsics, TheSecondTimeIsFree) {
  const auto target = testing::make_target();
  const auto extension = ExtensionFile::parse(fmt::format(kEndsTheCompiler, "again"), "again.yaml");
  const auto compose = [&](const std::shared_ptr<ExtensionFile>& composed) {
    LowerOptions options = target->lower_options();
    composed->adapt(options);
    Extensions extensions{{"again", composed->intrinsics()}};
    return take_away_refused(*target, extensions, options);
  };
  const auto first = compose(extension);
  // If no process could be started, that would be an EnvironmentError.
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto second = compose(ExtensionFile::parse(fmt::format(kEndsTheCompiler, "again"), "moved.yaml"));
  EXPECT_THROW(compose(ExtensionFile::parse(fmt::format(kEndsTheCompiler, "new"), "new.yaml")),
               EnvironmentError);
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].reason, first.at(0).reason);
  EXPECT_EQ(second[0].location.file, "moved.yaml") << "the place is not part of the answer";
}

}  // namespace
}  // namespace tunesmith
