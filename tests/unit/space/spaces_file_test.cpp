// Spaces that begin with others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/space/spaces_file.h>

namespace tunesmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> modules(const SpaceSpec& spec) {
  std::vector<std::string> ids;
  for (const PluginUse& use : spec.modules) ids.push_back(use.id);
  return ids;
}

TEST(SpacesFile, AFileOfAPersonExtendsTheSpacesThatComeAlong) {
  const SpacesFile file = SpacesFile::parse(
      "version: 1\n"
      "spaces:\n"
      "  mine:\n"
      "    extends: cpu\n"
      "    modules+: [{use: mine_too, before: multi_level_tiling}]\n",
      "mine.yaml");
  const SpacesFile builtin = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  EXPECT_EQ(file.names(), std::vector<std::string>{"mine"});
  EXPECT_EQ(file.space("mine").target.id, builtin.space("cpu").target.id);
  std::vector<std::string> wanted = modules(builtin.space("cpu"));
  wanted.insert(std::find(wanted.begin(), wanted.end(), "multi_level_tiling"), "mine_too");
  EXPECT_EQ(modules(file.space("mine")), wanted);
}

TEST(SpacesFile, ASpaceOfTheFileGoesBeforeOneThatComesAlong) {
  const SpacesFile file = SpacesFile::parse(
      "version: 1\n"
      "spaces:\n"
      "  cpu: {target: {kind: t}, modules: [own], search: {kind: s}, cost_model: {kind: c}}\n"
      "  mine: {extends: cpu}\n",
      "mine.yaml");
  EXPECT_EQ(modules(file.space("mine")), std::vector<std::string>{"own"});
}

TEST(SpacesFile, AnUnknownBaseNamesTheNearestOfBoth) {
  EXPECT_THAT([] { SpacesFile::parse("version: 1\nspaces:\n  mine:\n    extends: cpuu\n", "mine.yaml"); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("mine.yaml:4:14: no space 'cpuu'"), HasSubstr("did you mean 'cpu'"))));
}

}  // namespace
}  // namespace tunesmith
