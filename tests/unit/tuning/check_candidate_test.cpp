// What differs between the target that a candidate was made for and the one that is here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/tuning/check_candidate.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kHere = "llvm cpu=a generator=g1,llvm-19 lowering=l1 with=bf16_dot:22,vnni:11";

TEST(TargetDifferences, EachPartIsNamed) {
  EXPECT_THAT(target_differences(kHere, kHere), IsEmpty());
  EXPECT_THAT(
      target_differences("llvm cpu=b generator=g2 lowering=l1 with=acme:33,vnni:12", kHere),
      ElementsAre("another target: 'llvm cpu=b' there, 'llvm cpu=a' here",
                  "another code generator: 'g2' there, 'g1,llvm-19' here",
                  "lacks the extension 'acme' (33): its pack or its hardware is not here, or the space "
                  "does not name it",
                  "another version of the extension 'vnni': 12 there, 11 here",
                  "has the extension 'bf16_dot' (22), which was not there"));
  EXPECT_THAT(target_differences("llvm cpu=a generator=g1,llvm-19 lowering=l2 plugin=p with=none",
                                 "llvm cpu=a generator=g1,llvm-19 lowering=l1 with=none"),
              ElementsAre("another target's library: 'p' there, nothing here",
                          "another lowering: 'l2' there, 'l1' here"));
}

TEST(TargetDifferences, AnyTextHasThem) {
  EXPECT_THAT(target_differences("", "").size(), 0U);
  EXPECT_GT(target_differences(" with=,,:,", kHere).size(), 0U);
  EXPECT_GT(target_differences(" lowering= generator= with=", kHere).size(), 0U);
}

}  // namespace
}  // namespace tunesmith
