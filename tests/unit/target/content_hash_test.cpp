// An extension's hash covers everything but its description, comments and places in the file.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/lower/version.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/target/extension_file.h>

namespace tunesmith {
namespace {

constexpr const char* kUnit = R"yaml(extension: acme
description: A unit of its own.
target: t
requires: [fast]
quantities: {acme_rows: 4}
level: squad
intrinsics:
  - name: acme_add
    cycles: 2
    semantics: {inputs: {X: {shape: [4, 8], dtype: f16}}, compute: "C[i<4, j<8] = X[i, j] + 1", outputs: [C]}
    operands:
      X: {strides: [8n, 1], alignment: 32, swizzle: any, scope: shared}
      C: {scope: tile, layout: c, registers: "u32[4]"}
    implementation: {fragment: "add(C, X);", after: "wait();", before_barrier: "fence();", arguments: [C, X]}
)yaml";

uint64_t hash_with(const std::string& from = "", const std::string& to = "") {
  std::string text = kUnit;
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return ExtensionFile::parse(text, "unit.yaml")->content_hash();
}

TEST(ContentHash, IsOfAllThatIsSaid) {
  const std::vector<std::pair<std::string, std::string>> changes{
      {"extension: acme", "extension: acmes"},
      {"target: t", "target: u"},
      {"[fast]", "[fast, faster]"},
      {"acme_rows: 4", "acme_rows: 5"},
      {"level: squad", "level: team"},
      {"acme_add", "acme_sum"},
      {"cycles: 2", "cycles: 3"},
      {"dtype: f16", "dtype: bf16"},
      {"X[i, j] + 1", "X[i, j] + 2"},
      {"[8n, 1]", "[16n, 1]"},
      {"[8n, 1]", "[8, 1]"},
      {"alignment: 32", "alignment: 64"},
      {"swizzle: any", "swizzle: always"},
      {"scope: shared", "scope: global"},
      {"scope: tile", "scope: tiles"},
      {"layout: c", "layout: d"},
      {"u32[4]", "u32[8]"},
      {"fragment: \"add(C, X);\"", "fragment: \"add(X, C);\""},
      {"fragment: \"add(C, X);\"", "intrinsic: \"add(C, X);\""},
      {"wait();", "pause();"},
      {"fence();", "fences();"},
      {"arguments: [C, X]", "arguments: [X, C]"}};
  std::set<uint64_t> hashes{hash_with()};
  for (const auto& [from, to] : changes)
    EXPECT_TRUE(hashes.insert(hash_with(from, to)).second) << from << " -> " << to;
}

// Records of every pack contain such hashes, which cover printed semantics. If the printer changes,
// content_of() must keep the old form, or kLoweringVersion be raised.
TEST(ContentHash, IsTheSameInEveryVersionOfLowering) {
  EXPECT_EQ(kLoweringVersion, 1);
  EXPECT_EQ(hex64(hash_with()), "1469e4acbe76cd0e");
}

TEST(ContentHash, IsOfNothingElse) {
  const uint64_t hash = hash_with();
  EXPECT_EQ(hash_with("A unit of its own.", "A fast unit."), hash);
  EXPECT_EQ(hash_with("target: t\n", "# a comment\ntarget: t\n"), hash);
  EXPECT_EQ(hash_with("alignment: 32, swizzle: any", "swizzle: any, alignment: 32"), hash);
  EXPECT_EQ(ExtensionFile::parse(kUnit, "elsewhere.yaml")->content_hash(), hash);
}

TEST(TensorIntrinsics, VersionsOfOneNameAreFoundByTheirContents) {
  const auto parse = [](const std::string& fragment) {
    return ExtensionFile::parse(
        "extension: versions\ntarget: t\nintrinsics:\n  - name: versions_test\n"
        "    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: \"O[i<4] = X[i]\", "
        "outputs: [O]}\n    implementation: {fragment: \"" +
            fragment + "\"}\n",
        "versions.yaml");
  };
  const TensorIntrinsicPtr first = parse("one(O, X);")->intrinsics().front();
  const TensorIntrinsicPtr second = parse("two(O, X);")->intrinsics().front();
  TensorIntrinsics& all = TensorIntrinsics::global();
  EXPECT_EQ(all.find("versions_test"), second);
  const std::string content = all.content_of(first);
  EXPECT_EQ(content, hex64(content_hash(*first)));
  EXPECT_NE(content, all.content_of(second));
  EXPECT_EQ(all.find_content(content), first);
  EXPECT_EQ(all.find_content(all.content_of(second)), second);
  EXPECT_EQ(all.find_content("0"), nullptr);
}

}  // namespace
}  // namespace tunesmith
