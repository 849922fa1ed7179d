// The places to which messages about a space's extensions point.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/space/space.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string space_with(const std::string& extension) {
  return "version: 1\nspaces:\n  s:\n    target: {kind: llvm, with: [" + extension +
         "]}\n    search: {kind: random}\n    cost_model: {kind: random}\n";
}

std::string refusal_of(const std::string& extension) {
  PluginRegistry registry;
  try {
    read_extensions(SpacesFile::parse(space_with(extension), "my.yaml").space(""), registry);
  } catch (const UserError& error) {
    return error.what();
  }
  return "read";
}

TEST(NamedExtension, OfAMisspeltNameTheNearestOneIsSuggested) {
  EXPECT_EQ(refusal_of("vnni"), "read");
  EXPECT_THAT(refusal_of("vni"),
              StartsWith("my.yaml:4:33: unknown extension 'vni'; did you mean 'vnni'?; looked at: "));
  EXPECT_THAT(refusal_of("nothing_like_it"), HasSubstr("my.yaml:4:33: unknown extension 'nothing_like_it'"));
}

TEST(NamedExtension, OfAFileThatIsNotThereThePlaceIsThatOfItsName) {
  EXPECT_THAT(refusal_of("./no.yaml"),
              StartsWith("my.yaml:4:33: the file ./no.yaml cannot be read: No such file"));
}

// A lock file does not list files of extensions.
TEST(NamedExtension, AFileIsInNoLock) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "lock") << R"({"lock_version": 1, "plugins": []})";
  std::filesystem::permissions(folder / "lock", std::filesystem::perms::owner_read);
  PluginSearch search;
  search.lock_file = folder / "lock";
  PluginRegistry registry(search);
  EXPECT_THAT(
      [&] { read_extensions(SpacesFile::parse(space_with("./no.yaml"), "my.yaml").space(""), registry); },
      testing::ThrowsMessage<EnvironmentError>(
          HasSubstr("./no.yaml': [P15] a lock file cannot list files given by path")));
}

TEST(NamedExtension, WhatIsTakenWhereItIsMayBeAbsent) {
  EXPECT_EQ(refusal_of("\"vni?\""), "read");
  PluginRegistry registry;
  const Space space(
      SpacesFile::parse(space_with("\"vni?\", \"vnni?\", \"nothing_like_it?\""), "my.yaml").space(""),
      registry);
  ASSERT_EQ(space.absent_extensions().size(), 2U);
  EXPECT_EQ(space.absent_extensions()[0].str(),
            "my.yaml:4:33: unknown extension 'vni'; did you mean 'vnni'?");
  EXPECT_EQ(space.absent_extensions()[1].str(), "my.yaml:4:50: unknown extension 'nothing_like_it'");
  EXPECT_TRUE(space.intrinsics()->find("vnni_dot_16x4"));
}

/// The error of composing a space with this extension.
std::string fault_of(const std::string& extension) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "x.yaml") << "extension: x\ntarget: llvm\n" << extension;
  PluginRegistry registry;
  try {
    const Space space(SpacesFile::parse(space_with("./x.yaml"), (folder / "my.yaml").string()).space(""),
                      registry);
  } catch (const Error& error) {
    return error.what();
  }
  return "composed";
}

TEST(NamedExtension, SaysNothingThatItsTargetCannotHave) {
  EXPECT_THAT(fault_of("quantities: {cores: 0}\n"),
              HasSubstr("[P27] it sets the quantity cores to 0, but the target to"));
  EXPECT_THAT(fault_of("quantities: {cores: -2}\n"), HasSubstr("[P27] it sets the quantity cores to -2"));
  EXPECT_EQ(fault_of("quantities: {cores: 2, things_of_x: 0}\n"), "composed");
  EXPECT_THAT(
      fault_of(
          "intrinsics:\n  - name: x_copy\n    semantics: {inputs: {A: {shape: [4], dtype: f32}}, compute: "
          "\"O[i<4] = A[i]\", outputs: [O]}\n    operands: {A: {scope: globl}}\n"
          "    implementation: {fragment: \"ret <4 x float> %A\", arguments: [A]}\n"),
      HasSubstr(
          "operand A of x_copy is in the scope 'globl', unknown to the target; did you mean 'global'?"));
}

}  // namespace
}  // namespace tunesmith
