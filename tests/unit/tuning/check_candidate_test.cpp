// Differences between a candidate's target and the one here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/tuning/check_candidate.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TargetIdentity kHere{"llvm cpu=a", "1,llvm-19", "1", "",
                           std::vector<ExtensionIdentity>{{"bf16_dot", "22"}, {"vnni", "11"}}};

TEST(TargetDifferences, EachPartIsNamed) {
  EXPECT_THAT(target_differences(kHere, kHere), IsEmpty());
  TargetIdentity there{"llvm cpu=b", "2", "1", "",
                       std::vector<ExtensionIdentity>{{"acme", "33"}, {"vnni", "12"}}};
  EXPECT_THAT(target_differences(there, kHere),
              ElementsAre("another target: 'llvm cpu=b' there, 'llvm cpu=a' here",
                          "another code generator: '2' there, '1,llvm-19' here",
                          "lacks the extension 'acme' (33): its pack or hardware is missing, or the space "
                          "does not list it",
                          "another version of the extension 'vnni': 12 there, 11 here",
                          "has the extension 'bf16_dot' (22), unknown at recording"));
  there = kHere;
  there.lowering = "2";
  there.library = "p";
  EXPECT_THAT(target_differences(there, kHere),
              ElementsAre("another target's library: 'p' there, nothing here",
                          "another lowering: '2' there, '1' here"));
}

TEST(TargetDifferences, TheOrderOfExtensionsIsNone) {
  TargetIdentity there = kHere;
  std::swap(there.extensions->front(), there.extensions->back());
  EXPECT_THAT(target_differences(there, kHere), IsEmpty());
}

TEST(TargetDifferences, AnyTextHasThem) {
  EXPECT_THAT(target_differences(TargetIdentity::parse(""), TargetIdentity::parse("")), IsEmpty());
  for (const char* text : {" with=,,:,", " lowering= generator= with="})
    EXPECT_GT(target_differences(TargetIdentity::parse(text), kHere).size(), 0U);
}

}  // namespace
}  // namespace tunesmith
