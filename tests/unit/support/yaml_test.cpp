#include "tunesmith/support/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Yaml, ReadsScalarsListsAndMapsWithTheirPlaces) {
  const YamlNode root = parse_yaml("# c\na: 1\nlist: [x, 'y']\nempty:\nmap: {k: v}\n", "f.yaml");
  ASSERT_EQ(root.kind, YamlNode::Kind::Map);
  ASSERT_EQ(root.entries.size(), 4u);
  EXPECT_EQ(root.entries[0].location.str(), "f.yaml:2:1");
  EXPECT_EQ(root.find("a")->location.str(), "f.yaml:2:4");
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_FALSE(root.find("a")->quoted);
  EXPECT_TRUE(root.find("list")->items[1].quoted);
  EXPECT_EQ(root.find("list")->items[1].location.str(), "f.yaml:3:11");
  EXPECT_EQ(root.find("empty")->kind, YamlNode::Kind::Null);
  EXPECT_EQ(root.find("empty")->location.str(), "f.yaml:4:1");
  EXPECT_EQ(root.find("map")->find("k")->text, "v");
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Yaml, NothingStandsAtTheBeginning) {
  EXPECT_EQ(parse_yaml("", "f.yaml").kind, YamlNode::Kind::Null);
  EXPECT_EQ(parse_yaml("", "f.yaml").location.str(), "f.yaml:1:1");
  EXPECT_EQ(parse_yaml("# c\n", "f.yaml").location.str(), "f.yaml:1:1");
}

TEST(Yaml, PlacesInsideABlockScalarCountItsIndentation) {
  const YamlNode root = parse_yaml("a:\n  text: |  # note\n\n    one\n      two\n    three x\n", "f.yaml");
  const YamlNode& text = *root.find("a")->find("text");
  EXPECT_EQ(text.text, "\none\n  two\nthree x\n");
  EXPECT_EQ(text.at(text.text.find("one")).str(), "f.yaml:4:5");
  EXPECT_EQ(text.at(text.text.find("two")).str(), "f.yaml:5:7");
  EXPECT_EQ(text.at(text.text.find("wo")).str(), "f.yaml:5:8");
  EXPECT_EQ(text.at(text.text.find("\nthree")).str(), "f.yaml:5:10");
  EXPECT_EQ(text.at(text.text.find("x")).str(), "f.yaml:6:11");
}

TEST(Yaml, PlacesInsideFoldedAndQuotedScalars) {
  const YamlNode root = parse_yaml("a: b +\n    c\nq: \"x \\\" y\"\ns: 'it''s z'\n", "f.yaml");
  EXPECT_EQ(root.find("a")->text, "b + c");
  EXPECT_EQ(root.find("a")->at(4).str(), "f.yaml:2:5");
  EXPECT_EQ(root.find("q")->at(root.find("q")->text.find('y')).str(), "f.yaml:3:10");
  EXPECT_EQ(root.find("s")->at(root.find("s")->text.find('z')).str(), "f.yaml:4:11");
}

TEST(Yaml, RefusesWhatHidesMistakes) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "f.yaml:3:1: key 'a' is given twice; also in line 1");
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"),
            "f.yaml:2:1: a second YAML document begins here; expected one document in a file");
  EXPECT_THAT(error_of("a: &x 1\nb: *x\n"), HasSubstr("f.yaml:1:4: anchors and aliases are not accepted"));
  EXPECT_THAT(error_of("a: !thing 1\n"), HasSubstr("tag '!thing' is not accepted"));
  EXPECT_THAT(error_of("[a]: 1\n"), HasSubstr("a key cannot be a list or a mapping"));
}

TEST(Yaml, RefusesBadSyntaxWithItsPlace) {
  EXPECT_THAT(error_of("a: b: c\n"), HasSubstr("f.yaml:1:5: "));
  EXPECT_THAT(error_of(std::string("a: \0b", 5)), HasSubstr("f.yaml:1:4: byte 0x00 is not text"));
}

TEST(Yaml, NamesATabThatIndents) {
  EXPECT_EQ(error_of("a:\n\t- b\n"), "f.yaml:2:1: a tab; YAML indents with spaces");
  EXPECT_EQ(error_of("a:\n  \tb: 1\n"), "f.yaml:2:3: a tab; YAML indents with spaces");
  EXPECT_EQ(error_of("a:\n  b: |\n    \tc\n  d: [1,\n\t2]\n"), "accepted") << "where it indents nothing";
  EXPECT_THAT(error_of("a:\n  b: |\n    \tc\n  d: [\n"), testing::Not(HasSubstr("a tab")));
}

TEST(Yaml, LimitsNestingAndSize) {
  EXPECT_EQ(error_of("a: " + std::string(31, '[') + std::string(31, ']')), "accepted");
  EXPECT_THAT(error_of("a: " + std::string(32, '[') + std::string(32, ']')),
              HasSubstr("nested deeper than 32"));
  EXPECT_THAT(error_of("a: " + std::string(100000, '[') + std::string(100000, ']')),
              HasSubstr("nested deeper than 32"));
  EXPECT_THAT(error_of("a: " + std::string(1 << 20, 'x')), HasSubstr("larger than"));
  const auto list_of = [](int items) {
    std::string list = "[0";
    for (int i = 1; i < items; ++i) list += ", " + std::to_string(i);
    return list;
  };
  EXPECT_EQ(error_of("a: " + list_of(4096) + "]"), "accepted");
  EXPECT_THAT(error_of("a: " + list_of(4097) + "]"), HasSubstr("a list or mapping of more than 4096 items"));
  std::string keys;
  for (int i = 0; i < 4097; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(error_of(keys), HasSubstr("4097:8: a list or mapping of more than 4096 items"));
}

TEST(Yaml, AQuestionMarkAfterAWordBelongsToIt) {
  const YamlNode root = parse_yaml("a: [x?, 'y?', z_? ]\nb: {c: d?}\ne: why? so\n", "f.yaml");
  EXPECT_EQ(root.find("a")->items[0].text, "x?");
  EXPECT_EQ(root.find("a")->items[1].text, "y?");
  EXPECT_EQ(root.find("a")->items[2].text, "z_?");
  EXPECT_EQ(root.find("a")->items[2].location.str(), "f.yaml:1:15");
  EXPECT_EQ(root.find("b")->find("c")->text, "d?");
  EXPECT_EQ(root.find("e")->text, "why? so");
  EXPECT_EQ(root.find("e")->at(5).str(), "f.yaml:3:9");
}

TEST(Yaml, AMissingFileIsTheUsersError) {
  EXPECT_THROW(read_yaml_file("/nonexistent/f.yaml"), UserError);
  EXPECT_THROW(read_yaml_file("/"), UserError);
}

TEST(Yaml, UnknownKeysNameTheNearestKnown) {
  const YamlNode root = parse_yaml("name: x\ninput: y\n", "f.yaml");
  try {
    refuse_unknown_keys(root, {"name", "inputs"}, "a workload");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "f.yaml:2:1: a workload has no key 'input'; did you mean 'inputs'?");
  }
}

}  // namespace
}  // namespace tunesmith
