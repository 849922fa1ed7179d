// Spaces that cannot be composed without a pack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/space/space.h"

namespace tunesmith {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const SpacesFile& spaces() {
  static const SpacesFile file = SpacesFile::parse(
      "version: 1\n"
      "spaces:\n"
      "  one: {extends: cpu, requires: [vnnni]}\n"
      "  both: {extends: one, requires: [nowhere, vnnni, vnni]}\n"
      "  none: {extends: cpu}\n",
      "my.yaml");
  return file;
}

TEST(RequiredPacks, ThoseOfWhatASpaceExtendsAreItsOwn) {
  const PluginRegistry registry;
  EXPECT_THAT(missing_packs(spaces().space("none"), registry), IsEmpty());
  EXPECT_THAT(missing_packs(spaces().space("one"), registry), ElementsAre("vnnni"));
  EXPECT_THAT(missing_packs(spaces().space("both"), registry), ElementsAre("vnnni", "nowhere"));
  EXPECT_EQ(spaces().space("both").packs.size(), 3U) << "each once";
}

TEST(RequiredPacks, WithoutThemASpaceIsNotComposed) {
  PluginRegistry registry;
  EXPECT_THAT([&] { Space(spaces().space("one"), registry); },
              ThrowsMessage<EnvironmentError>(AllOf(
                  HasSubstr("my.yaml:3:34: space 'one' requires the pack 'vnnni', which is not installed; "
                            "did you mean 'vnni'?; looked at: "),
                  HasSubstr("remedy: put it into one of these folders, or name its folder with "
                            "--plugin-path"))));
  EXPECT_THAT([&] { Space(spaces().space("both"), registry); },
              ThrowsMessage<EnvironmentError>(HasSubstr(
                  "space 'both' requires the packs 'vnnni' and 'nowhere', which are not installed; ")));
  EXPECT_THAT([&] { read_extensions(spaces().space("both"), registry); },
              testing::Throws<EnvironmentError>());
}

TEST(RequiredPacks, AreAListOfIds) {
  const auto parse = [](const std::string& packs) {
    SpacesFile::parse("version: 1\nspaces:\n  s: {extends: cpu, requires: " + packs + "}\n", "my.yaml");
  };
  EXPECT_THAT([&] { parse("vnni"); },
              ThrowsMessage<UserError>(HasSubstr("my.yaml:3:31: requires: expected ")));
  EXPECT_THAT([&] { parse("[[vnni]]"); },
              ThrowsMessage<UserError>(HasSubstr("my.yaml:3:32: requires: a pack's id: expected ")));
}

}  // namespace
}  // namespace tunesmith
