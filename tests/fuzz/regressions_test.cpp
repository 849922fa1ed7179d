// Traces that once changed what a program computes, shrunk: each must be refused now, or be right.
#include <gtest/gtest.h>

#include <tunesmith/workload/library.h>

#include "trace_check.h"

namespace tunesmith::fuzz {
namespace {

void expect_right(const char* workload, const char* trace) {
  const Workload loaded = WorkloadLibrary().load(workload);
  EXPECT_EQ(check_trace(loaded.program, Trace::parse(trace)), "");
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

}  // namespace
}  // namespace tunesmith::fuzz
