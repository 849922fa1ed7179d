// Programs built from text, as printed.
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

std::string printed(const std::string& text) { return to_string(WorkloadLibrary().load(text).program); }

TEST(WorkloadGolden, Gmm) {
  EXPECT_EQ(printed("gmm:b=2,n=3,m=5,k=7"),
            R"(program gmm(A: f32[2, 3, 7], B: f32[2, 7, 5]) -> (C: f32[2, 3, 5])
  for z in 0..2:
    for i in 0..3:
      for j in 0..5:
        for r in 0..7:
          block C(vz: spatial 2 = z, vi: spatial 3 = i, vj: spatial 5 = j, vr: reduction 7 = r):
            init:
              C[vz, vi, vj] = 0.0
            C[vz, vi, vj] = C[vz, vi, vj] + A[vz, vi, vr]*B[vz, vr, vj]
)");
}

TEST(WorkloadGolden, GmmOfInt8AccumulatesInInt32) {
  EXPECT_EQ(printed("gmm:n=3,m=5,k=7,dtype=u8,b_dtype=i8,constant_b=1"),
            R"(program gmm(A: u8[1, 3, 7], B: i8[1, 7, 5] constant) -> (C: i32[1, 3, 5])
  for z in 0..1:
    for i in 0..3:
      for j in 0..5:
        for r in 0..7:
          block C(vz: spatial 1 = z, vi: spatial 3 = i, vj: spatial 5 = j, vr: reduction 7 = r):
            init:
              C[vz, vi, vj] = 0
            C[vz, vi, vj] = C[vz, vi, vj] + i32(A[vz, vi, vr])*i32(B[vz, vr, vj])
)");
}

TEST(WorkloadGolden, GroupedStridedConvolution) {
  EXPECT_EQ(printed("conv2d:h=9,w=8,ci=4,co=6,kernel=3,stride=2,padding=1,groups=2"),
            R"(program conv2d(X: f32[1, 9, 8, 4], W: f32[3, 3, 2, 6] constant) -> (O: f32[1, 5, 4, 6])
  intermediate P: f32[1, 11, 10, 4]
  for n in 0..1:
    for y in 0..11:
      for x in 0..10:
        for c in 0..4:
          block P(vn: spatial 1 = n, vy: spatial 11 = y, vx: spatial 10 = x, vc: spatial 4 = c):
            P[vn, vy, vx, vc] = select(0 <= vy - 1 and vy - 1 < 9 and 0 <= vx - 1 and vx - 1 < 8, X[vn, vy - 1, vx - 1, vc], 0.0)
  for n in 0..1:
    for y in 0..5:
      for x in 0..4:
        for f in 0..6:
          for ky in 0..3:
            for kx in 0..3:
              for c in 0..2:
                block O(vn: spatial 1 = n, vy: spatial 5 = y, vx: spatial 4 = x, vf: spatial 6 = f, vky: reduction 3 = ky, vkx: reduction 3 = kx, vc: reduction 2 = c):
                  init:
                    O[vn, vy, vx, vf] = 0.0
                  O[vn, vy, vx, vf] = O[vn, vy, vx, vf] + P[vn, vy*2 + vky, vx*2 + vkx, vf//3*2 + vc]*W[vky, vkx, vc, vf]
)");
}

}  // namespace
}  // namespace tunesmith
