// Sums that a matrix unit accumulates over a loop, and plain statements read afterwards, are correct, and not
// stored in each iteration.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

/// C[i<16, j<16] += A[i] * B[j], of values of 256 elements.
std::string outer_product() {
  std::vector<std::string> rows, columns;
  for (int e = 0; e < 256; ++e) {
    rows.push_back(fmt::format("i32 {}", e / 16));
    columns.push_back(fmt::format("i32 {}", e % 16));
  }
  const auto spread = [](const char* to, const char* from, const std::vector<std::string>& lanes) {
    return fmt::format(
        "        %{} = shufflevector <16 x float> %{}, <16 x float> poison, <256 x i32> <{}>\n", to, from,
        fmt::join(lanes, ", "));
  };
  return "extension: outer\ntarget: llvm\nintrinsics:\n  - name: outer_16x16\n    semantics:\n"
         "      inputs: {A: {shape: [16, 1], dtype: f32}, B: {shape: [1, 16], dtype: f32}}\n"
         "      compute: \"C[i<16, j<16] = sum(k<1) A[i, k] * B[k, j]\"\n      outputs: [C]\n"
         "    operands: {A: {strides: [1n, 1]}}\n"
         "    implementation:\n      arguments: [C, A, B]\n      fragment: |\n" +
         spread("a", "A", rows) + spread("b", "B", columns) +
         "        %p = fmul <256 x float> %a, %b\n        %r = fadd <256 x float> %C, %p\n"
         "        ret <256 x float> %r\n";
}

constexpr const char* kTiles = R"trace(o = get_block("O")
out = cache_write(o, 0, "local")
transform_layout(o, "write", 0, "(i, j) -> (i // 16, j // 16, i % 16, j % 16)")
i, j, r = get_loops(o)
i0, i1, i2 = split(i, [None, 2, 16])
j0, j1, j2 = split(j, [None, 1, 16])
reorder([i0, j0, r, i1, j1, i2, j2])
reverse_compute_at(out, j0)
zero = decompose_reduction(o, r)
t = tensorize(i2, "outer_16x16")
unroll(i1)
oi0, oj0, oi, oj = get_loops(out)
vectorize(oj)
)trace";

TEST(UnitSums, AreRightHoweverTheyAreTakenApart) {
  const auto extension = ExtensionFile::parse(outer_product(), "outer.yaml");
  const auto target = testing::make_target();
  LowerOptions options = target->lower_options();
  extension->adapt(options);
  const Workload workload = WorkloadDefinition::parse(
                                "name: test\ninputs: {A: {shape: [64, 7], dtype: f32}, B: {shape: [7, 32], "
                                "dtype: f32}}\ncompute: |\n"
                                "  O[i<64, j<32] = sum(r<7) A[i, r] * B[r, j]\noutputs: [O]\n",
                                "test.yaml")
                                .instantiate();
  const std::string zero =
      "zi0, zj0, zi1, zj1, zi, zj = get_loops(zero)\nunroll(zi1)\nunroll(zi)\nvectorize(zj)\n";
  for (const std::string& more : {std::string(), std::string("unroll(oi)\n"), "unroll(oi)\n" + zero, zero}) {
    SCOPED_TRACE(more);
    const auto schedule = replay(workload.program, Trace::parse(kTiles + more));
    ASSERT_TRUE(schedule) << schedule.error().what();
    const LoweredProgram lowered = lower(schedule->program().clone(), options);
    std::vector<Tensor> expected = test::random_arguments(workload.program);
    const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
    interpret(workload.program, expected);
    EXPECT_LE(max_error(got.back(), expected.back()), 1e-5);
    const std::string ir = target->ir(lowered, "kernel");
    // Two sums are each stored once behind the loop, if everything is in values.
    size_t through_memory = 0;
    for (size_t at = ir.find("load volatile"); at != std::string::npos; at = ir.find("load volatile", at + 1))
      ++through_memory;
    const bool wide = target->lower_options().vector_bits * 8 < 256 * 32;
    EXPECT_EQ(through_memory, wide && more == "unroll(oi)\n" + zero ? 2U : 0U);
  }
}

}  // namespace
}  // namespace tunesmith
