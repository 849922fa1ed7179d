// Where messages about the extensions that a space names point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/space/space.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& extension) {
  const std::string text = "version: 1\nspaces:\n  s:\n    target: {kind: llvm, with: [" + extension +
                           "]}\n    search: {kind: random}\n    cost_model: {kind: random}\n";
  PluginRegistry registry;
  try {
    read_extensions(SpacesFile::parse(text, "my.yaml").space(""), registry);
  } catch (const UserError& error) {
    return error.what();
  }
  return "read";
}

TEST(NamedExtension, OfAMisspeltNameTheNearestBuiltInOneIsSuggested) {
  EXPECT_EQ(refusal_of("vnni"), "read");
  EXPECT_EQ(refusal_of("vni"), "my.yaml:4:33: there is no extension 'vni'; did you mean 'vnni'?");
  EXPECT_THAT(refusal_of("nothing_like_it"),
              HasSubstr("my.yaml:4:33: there is no extension 'nothing_like_it'"));
}

TEST(NamedExtension, OfAFileThatIsNotThereThePlaceIsThatOfItsName) {
  EXPECT_THAT(refusal_of("./no.yaml"),
              testing::StartsWith("my.yaml:4:33: the file ./no.yaml cannot be read: No such file"));
}

TEST(NamedExtension, TheBuiltInOnesAreThoseThatAreFound) {
  const std::vector<std::string> names = builtin_extensions();
  EXPECT_THAT(names, testing::IsSupersetOf({"bf16_dot", "vnni"}));
  for (const std::string& name : names) EXPECT_FALSE(builtin_extension(name).empty()) << name;
}

}  // namespace
}  // namespace tunesmith
