// Shrunk traces that once changed a program's results: now each must be refused, or be correct.
#include <gtest/gtest.h>

#include <tunesmith/workload/library.h>

#include "trace_check.h"

namespace tunesmith::fuzz {
namespace {

void expect_right(const Workload& workload, const char* trace) {
  EXPECT_EQ(check_trace(workload.program, Trace::parse(trace)), "");
}

void expect_right(const char* workload, const char* trace) {
  expect_right(WorkloadLibrary().load(workload), trace);
}

TEST(Regression, AReaderThatLeavesAParallelLoopSharesWhatWasPrivate) {
  expect_right("attention_scores:seq=5,heads=3,dim=2,dtype=f64",
               "s = get_block(\"S\")\n"
               "z, h, i, j, r = get_loops(s)\n"
               "k = get_block(\"KT\")\n"
               "compute_at(k, i)\n"
               "q = get_block(\"QT\")\n"
               "compute_inline(q)\n"
               "parallel(i)\n"
               "reverse_compute_at(s, z)\n");
}

TEST(Regression, AVectorizedLoopOfOneIterationUnderTwoConditions) {
  expect_right("attention_scores:seq=1,heads=3,dim=3,dtype=f64",
               "b = get_block(\"QT\")\n"
               "z, h, i, r = get_loops(b)\n"
               "h0, h1 = split(h, [None, 4])\n"
               "h2, h3 = split(h0, [5, None])\n"
               "vectorize(h2)\n");
}

TEST(Regression, AConsumerBesideAProducerThatALayoutHidTheConditionOf) {
  expect_right("conv_bias_bn_relu:h=3,w=6,ci=2,co=4,kernel=3,dtype=f64",
               "c = get_block(\"C\")\n"
               "n, y, x, f, ky, kx, ci = get_loops(c)\n"
               "n0, n1 = split(n, [4, 2])\n"
               "o = get_block(\"O\")\n"
               "transform_layout(c, \"write\", 0, \"(i0, i1, i2, i3) -> (i0 // 2, i1, i2, i3, i0 % 2)\")\n"
               "reverse_compute_at(o, n1)\n");
}

TEST(Regression, APaddedCopyOfALayoutWithGaps) {
  expect_right("gmm:n=3,m=5,k=2,dtype=f64",
               "b = get_block(\"C\")\n"
               "c = cache_write(b, 0, \"global\")\n"
               "transform_layout(c, \"read\", 0, \"(i, j) -> (i, j + 2)\")\n"
               "pad_einsum(c, [2, 1])\n");
}

TEST(Regression, ACacheInsideABlockUnderAVectorizedLoop) {
  expect_right("elementwise_chain:n=4,m=6,dtype=f64",
               "b = get_block(\"S\")\n"
               "i, j = get_loops(b)\n"
               "o = blockize(j)\n"
               "vectorize(i)\n"
               "c = cache_read(b, 0, \"global\")\n");
}

TEST(Regression, ABufferOfABlockUnderAVectorizedLoopInsideAnotherBlock) {
  expect_right("elementwise_chain:n=4,m=6,dtype=f64",
               "b = get_block(\"S\")\n"
               "i, j = get_loops(b)\n"
               "o = blockize(j)\n"
               "vectorize(i)\n"
               "p = blockize(i)\n"
               "c = cache_read(b, 0, \"local\")\n");
}

TEST(Regression, ABufferOfAReductionsBlockUnderAParallelLoop) {
  expect_right("reduce_sum_2d:m=9,n=3,dtype=f64",
               "b = get_block(\"S\")\n"
               "i, j = get_loops(b)\n"
               "z = decompose_reduction(b, i)\n"
               "parallel(i)\n"
               "j0, j1 = split(j, [3, None])\n"
               "o = blockize(j1)\n"
               "c = cache_read(b, 0, \"local\")\n"
               "reorder([j0, i])\n");
}

TEST(Regression, AnInitThatReadsAlongWhatIsPadded) {
  expect_right("dense_bias_gelu:n=6,m=5,k=4,dtype=f64",
               "d = get_block(\"D\")\n"
               "t = get_block(\"T\")\n"
               "fuse_reduction_epilogue(d, t)\n"
               "pad_einsum(d, [4, 3, 3])\n");
}

TEST(Regression, ARaggedVectorThatIsAllARegisterHolds) {
  expect_right("norm:b=3,m=7,n=5,dtype=f64",
               "b = get_block(\"D\")\n"
               "i = get_loops(b)\n"
               "r = read_at(i, b, 0, \"register\")\n"
               "vectorize(i)\n");
}

TEST(Regression, AVectorWhoseFirstLaneIsBeforeTheRegister) {
  expect_right("transposed_conv2d:h=3,w=2,ci=1,co=1,dtype=f64",
               "b = get_block(\"P\")\n"
               "u = add_unit_loop(b)\n"
               "l2, l3, l4, l5, l6 = get_loops(b)\n"
               "r = read_at(u, b, 0, \"register\")\n"
               "vectorize(l4)\n");
}

TEST(Regression, ACopyOfACopyOfAPart) {
  expect_right(WorkloadDefinition::parse("name: random\n"
                                         "inputs:\n"
                                         "  X: {shape: [4, 3], dtype: f64}\n"
                                         "compute: |\n"
                                         "  S[i<4, j<3] = X[3 - j, i // 2] + 1\n"
                                         "  T[i<4, j<3] = S[i, j // 2] + S[j, i // 2]\n"
                                         "outputs: [T]\n",
                                         "random.yaml")
                   .instantiate(),
               "t = get_block(\"T\")\n"
               "s = get_block(\"S\")\n"
               "i, j = get_loops(s)\n"
               "x = read_at(j, s, 0, \"local\")\n"
               "compute_inline(s)\n"
               "y = cache_read(t, 0, \"register\")\n");
}

}  // namespace
}  // namespace tunesmith::fuzz
