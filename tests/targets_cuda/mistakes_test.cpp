// Kernels with one mistake each, such as a code generator could make: none is accepted.
#include <gtest/gtest.h>

#include "emulation_run.h"

namespace tunesmith::testing {
namespace {

struct Mistake {
  const char* name;
  const char* from;
  const char* to;
};

void none_is_accepted(const Case& test, const std::vector<Mistake>& mistakes) {
  const std::string text = kernel_text(test.file);
  for (const Mistake& mistake : mistakes) {
    const std::string wrong = what_is_wrong(test, replaced(text, mistake.from, mistake.to));
    EXPECT_NE(wrong, "") << test.file << ": " << mistake.name;
  }
}

TEST(Mistakes, InAPlainMatrixProduct) {
  none_is_accepted(
      sgemm_case(67, 61, 77),
      {{"no_first_barrier", "__syncthreads();  // first", ""},
       {"no_barrier_in_the_loop", "__syncthreads();  // loop", ""},
       {"one_stage", "nxt = cur ^ 1", "nxt = cur"},
       {"reads_the_other_stage", "&as[cur][k][ty]", "&as[nxt][k][ty]"},
       {"divergent_barrier", "__syncthreads();  // loop",
        "if (t < 128) __syncthreads(); else __syncthreads();"},
       {"barrier_for_some", "__syncthreads();  // loop", "if (t < 128) __syncthreads();"},
       {"a_thread_leaves", "  fetch(0);\n", "  if (t == 255) return;\n  fetch(0);\n"},
       {"first_stage_not_written", "  stage(0);\n", ""},
       {"row_predicate_off_by_one", "row0 + ar < M &&", "row0 + ar <= M &&"},
       {"depth_predicate_missing", "&& k0 + ak + i < K ?", "?"},
       {"store_predicate_missing", "if (row0 + ty + i < M && col0 + tx + j < N) C", "C"},
       {"store_predicate_of_rows_only", " && col0 + tx + j < N) C", ") C"},
       {"threads_share_a_tile", "ty = (t >> 4) * 4", "ty = (t >> 4 & 7) * 4"},
       {"buffers_overlap", "smem + 8704", "smem + 8192"},
       {"too_little_shared_memory", "smem + 8704", "smem + 8960"},
       {"misaligned_vector", "smem + 8704", "smem + 8700"},
       {"rows_and_columns_exchanged", "as[s][ak + i][ar]", "as[s][ar & 15][ak + i]"},
       {"one_step_too_few", "steps = (K + DEPTH - 1) / DEPTH", "steps = K / DEPTH"},
       {"accumulates_in_the_wrong_place", "acc[i][j] += av[i] * bv[j]", "acc[i][j] += av[j] * bv[i]"}});
}

TEST(Mistakes, InAPipelineOfAsynchronousCopies) {
  none_is_accepted(
      hgemm_case(128, 64, 224),
      {{"weak_wait", "cp_async_wait<STAGES - 2>()", "cp_async_wait<STAGES - 1>()"},
       {"no_wait", "cp_async_wait<STAGES - 2>();", ""},
       {"no_barrier", "    __syncthreads();\n", ""},
       {"barrier_before_wait", "    cp_async_wait<STAGES - 2>();\n    __syncthreads();\n",
        "    __syncthreads();\n    cp_async_wait<STAGES - 2>();\n"},
       {"fetches_into_the_stage_that_is_read", "fetch((s + STAGES - 1) % STAGES)", "fetch(s % STAGES)"},
       {"fetches_one_stage_further", "fetch((s + STAGES - 1) % STAGES)", "fetch((s + STAGES + 1) % STAGES)"},
       {"fetches_past_the_end", "if (s + STAGES - 1 < steps) fetch", "fetch"},
       {"no_commit", "    cp_async_commit();\n    const char* p", "    const char* p"},
       {"no_commit_at_first", "    cp_async_commit();  // prologue\n", ""},
       {"one_stage_less_of_memory", "s % STAGES * STAGE_BYTES", "s % STAGES * (STAGE_BYTES / 2)"},
       {"swizzle_of_a_off", "(fr >> 1) & 3)) << 4", "fr & 3)) << 4"},
       {"swizzle_of_b_off", "+ fh) ^ (fr & 7)", "+ fh) ^ (fr & 3)"},
       {"not_transposed", "ldmatrix_x4_trans(fb[j]", "ldmatrix_x4(fb[j]"},
       {"halves_of_b_exchanged", "fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]",
        "fb[j >> 1][j & 1], fb[j >> 1][(j & 1) + 2]"},
       {"rows_of_c_exchanged", "C + (row + 8) * N", "C + (row + 4) * N"},
       {"diverged_warp", "mma_m16n8k16(acc[i][j]", "if (lane < 31 || s != 1) mma_m16n8k16(acc[i][j]"},
       {"slices_exchanged", "(k * 16 + fr) * 128", "((1 - k) * 16 + fr) * 128"},
       {"misaligned_row", "+ fr) * 64", "+ fr) * 56"},
       {"warps_share_a_tile", "wn = (warp & 1) * 32", "wn = (warp & 2) * 16"}});
}

TEST(Mistakes, InFragmentsOfWmma) {
  none_is_accepted(wmma_case(64, 96, 64),
                   {{"not_written", "__syncthreads();  // written", ""},
                    {"not_read", "__syncthreads();  // read", ""},
                    {"wrong_order", "wmma_load_b<0>(fb", "wmma_load_b<1>(fb"},
                    {"order_of_the_load_and_of_the_product", "wmma_mma<0, 0>", "wmma_mma<0, 1>"},
                    {"wrong_stride", "&bs[0][wn], 40)", "&bs[0][wn], 48)"},
                    {"misaligned_tile", "&as[wm][0], 24)", "&as[wm][4], 24)"},
                    {"store_with_the_wrong_stride", "acc, N)", "acc, K)"}});
}

TEST(Mistakes, InReductionsAcrossThreads) {
  none_is_accepted(
      softmax_case(2, 200),
      {{"no_barrier_for_the_largest", "__syncthreads();  // of the largest", ""},
       {"no_barrier_for_the_sum", "__syncthreads();  // of the sum", ""},
       {"one_place_for_both", "parts[1][warp] = sum", "parts[0][warp] = sum"},
       {"half_a_warp", "__shfl_xor_sync(0xffffffffu, sum, d)", "__shfl_xor_sync(0xffffu, sum, d)"},
       {"a_step_too_few", "for (int d = 16; d > 0; d >>= 1) sum", "for (int d = 16; d > 1; d >>= 1) sum"},
       {"diverged_shuffle", "for (int d = 16; d > 0; d >>= 1) sum",
        "if (t < columns - 128) for (int d = 16; d > 0; d >>= 1) sum"},
       {"every_lane_writes", "if (lane == 0) parts[1]", "parts[1]"}});
}

TEST(Mistakes, InProductsOfAWarpgroup) {
  const Case test = wgmma_case(64, 128, 448);
  none_is_accepted(
      test, {{"offsets_exchanged", "wgmma_desc(p + 8192, 8192, 1024)", "wgmma_desc(p + 8192, 1024, 8192)"},
             {"not_row_major", "k16<1>(acc", "k16<0>(acc"},
             {"advance_of_b", "db + k * 128", "db + k * 2"},
             {"no_barrier", "    __syncthreads();\n", ""},
             {"missing_wait", "    wgmma_wait<1>();\n", "    wgmma_wait<2>();\n"},
             {"no_wait_at_the_end", "  wgmma_wait<0>();\n", ""},
             {"no_fence_of_the_products", "    wgmma_fence();\n", ""},
             {"no_fence_of_the_proxy", "    fence_async_shared();\n", ""},
             {"fence_before_the_wait", "    cp_async_wait<STAGES - 3>();\n    fence_async_shared();\n",
              "    fence_async_shared();\n    cp_async_wait<STAGES - 3>();\n"},
             {"swizzle_off", "a_to = (t >> 3) * 128 + (((t & 7) ^ ((t >> 3) & 7)) << 4)",
              "a_to = (t >> 3) * 128 + ((t & 7) << 4)"},
             {"tile_not_aligned", "char* tile = smem + ((1024 - (smem_u32(smem) & 1023)) & 1023)",
              "char* tile = smem + 512"}});
  // Fetches one stage too far ahead, into one that a product in flight still reads.
  std::string early = kernel_text(test.file);
  early = replaced(early, "s < STAGES - 2; s++", "s < STAGES - 1; s++");
  early = replaced(early, "if (s + STAGES - 2 < steps) fetch((s + STAGES - 2) % STAGES)",
                   "if (s + STAGES - 1 < steps) fetch((s + STAGES - 1) % STAGES)");
  early = replaced(early, "cp_async_wait<STAGES - 3>", "cp_async_wait<STAGES - 2>");
  EXPECT_NE(what_is_wrong(test, early), "") << "overwritten under a product in flight";
}

TEST(Mistakes, InBarriersOfMemory) {
  none_is_accepted(
      tma_case(64, 128, 448),
      {{"producer_does_not_wait", "        mbar_wait(empty + stage, phase ^ 1);\n", ""},
       {"consumer_does_not_wait", "      mbar_wait(full + stage, phase);\n", ""},
       {"wrong_parity", "mbar_wait(full + stage, phase)", "mbar_wait(full + stage, phase ^ 1)"},
       {"released_before_it_is_read",
        "      wgmma_wait<1>();\n      if (s > 0 && lane == 0 && warp == 0) mbar_arrive(empty + (s - 1) % "
        "STAGES);",
        "      if (lane == 0 && warp == 0) mbar_arrive(empty + stage);\n      wgmma_wait<1>();"},
       {"never_released",
        "      if (s > 0 && lane == 0 && warp == 0) mbar_arrive(empty + (s - 1) % STAGES);\n", ""},
       {"every_lane_releases", "lane == 0 && warp == 0) mbar_arrive", "warp == 0) mbar_arrive"},
       {"too_few_bytes_expected", "mbar_expect(full + stage, STAGE_BYTES)",
        "mbar_expect(full + stage, 8192)"},
       {"too_many_bytes_expected", "mbar_expect(full + stage, STAGE_BYTES)",
        "mbar_expect(full + stage, STAGE_BYTES + 16)"},
       {"panels_exchanged", "blockIdx.x * 128 + 64, s * 64", "blockIdx.x * 128, s * 64"},
       {"not_initialised", "mbar_init(empty + i, 1);", ""},
       {"copies_may_not_see_the_barriers", "fence_mbar_init();", ""},
       {"no_barrier_after_initialising", "  __syncthreads();\n", ""}});
}

}  // namespace
}  // namespace tunesmith::testing
