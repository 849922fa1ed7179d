// The identity of tasks' targets, written as text and read again.
#include "tunesmith/target/target_identity.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/lower/version.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

using Extensions = std::vector<ExtensionIdentity>;

void expect_text(const TargetIdentity& identity, const std::string& text) {
  EXPECT_EQ(identity.str(), text);
  EXPECT_EQ(TargetIdentity::parse(text), identity) << text;
}

TEST(TargetIdentity, IsOneLineOfText) {
  expect_text({"acme rows=4", "1,compiler-19.1.7", "1", "", Extensions{{"unit", "11"}, {"other", "22"}}},
              "acme rows=4 generator=1,compiler-19.1.7 lowering=1 with=unit:11,other:22");
  expect_text({"acme", "1", "2", "0f3c", Extensions{}}, "acme generator=1 lowering=2 plugin=0f3c with=none");
}

TEST(TargetIdentity, OfOlderRecordsSaysLess) {
  expect_text({"acme rows=4", "", "", ""}, "acme rows=4");
  expect_text({"acme", "5f0849d7300c98d0,compiler-19.1.7", "d93431a910253186", ""},
              "acme generator=5f0849d7300c98d0,compiler-19.1.7 lowering=d93431a910253186");
}

TEST(TargetIdentity, ValuesMayLookLikeFields) {
  expect_text({"a lowering=3 b%", "g with=x", "1", " plugin=", Extensions{{"a:b", "c,d"}, {"none", "e f"}}},
              "a%20lowering=3 b%25 generator=g%20with=x lowering=1 plugin=%20plugin= "
              "with=a%3Ab:c%2Cd,none:e%20f");
}

TEST(TargetIdentity, OfRandomFieldsIsReadAsItWas) {
  const std::vector<std::string> parts{"a",           " ",      "%",        "%20",        ",",    ":",
                                       " generator=", " with=", " plugin=", " lowering=", "none", "="};
  RandomStream random(3, 1);
  const auto text = [&] {
    std::string all = "x";
    for (uint64_t n = random.below(5); n > 0; --n) all += parts[random.below(parts.size())];
    return all;
  };
  for (int i = 0; i < 2000; ++i) {
    TargetIdentity identity{text(), text(), text(), random.below(2) == 0 ? "" : text()};
    if (random.below(3) > 0) identity.extensions.emplace();
    for (uint64_t n = identity.extensions ? random.below(3) : 0; n > 0; --n)
      identity.extensions->push_back({text(), text()});
    const std::string written = identity.str();
    EXPECT_EQ(TargetIdentity::parse(written), identity) << written;
  }
}

TEST(TargetIdentity, AnyOtherTextIsATargetOfItsOwn) {
  for (const char* text : {"a with=,,:,", "a lowering= generator= with=", "a with=none generator=1", "50%"}) {
    const TargetIdentity identity = TargetIdentity::parse(text);
    EXPECT_EQ(identity.target, text);
    EXPECT_EQ(identity.lowering + identity.generator + identity.library, "");
    EXPECT_FALSE(identity.extensions);
  }
}

TEST(TargetIdentity, IsTheSameButForItsExtensions) {
  const std::string target = "acme generator=1 lowering=1";
  EXPECT_TRUE(same_but_extensions(target + " with=none", target + " with=x:1,y:2"));
  EXPECT_TRUE(same_but_extensions(target, target + " with=none"));
  EXPECT_FALSE(same_but_extensions(target + " with=x:1", "acme generator=1 lowering=2 with=x:1"));
  EXPECT_FALSE(same_but_extensions(target + " plugin=1 with=x:1", target + " with=x:1"));
}

}  // namespace
}  // namespace tunesmith
