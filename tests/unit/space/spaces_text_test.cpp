// The meaning of a spaces file, and every refusal with place, reason and remedy.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/space/spaces_file.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr const char* kBase = R"(version: 1
spaces:
  base:
    target: {kind: t, speed: 3, with: [near, far?]}
    modules: [a, b: {size: 8, names: [x, "y"]}, c]
    search: {kind: s, greed: 0.5}
    cost_model: {kind: m}
)";

/// A file with the base, and a space `own` with these lines.
SpacesFile with_own(const std::string& lines) {
  return SpacesFile::parse(fmt::format("{}  own:\n{}", kBase, lines), "s.yaml");
}

std::vector<std::string> ids(const std::vector<PluginUse>& uses) {
  std::vector<std::string> names;
  for (const PluginUse& use : uses) names.push_back(use.id + (use.optional ? "?" : ""));
  return names;
}

TEST(SpacesText, ASpaceWithAllItsParts) {
  const SpacesFile file = SpacesFile::parse(kBase, "s.yaml");
  const SpaceSpec& base = file.space("");
  EXPECT_EQ(base.name, "base") << "the first is the default";
  EXPECT_EQ(base.target.id, "t");
  ASSERT_EQ(base.target.options.size(), 1u);
  EXPECT_EQ(base.target.options[0].name, "speed");
  EXPECT_EQ(base.target.options[0].location.str(), "s.yaml:4:23");
  EXPECT_THAT(ids(base.extensions), ElementsAre("near", "far?"));
  EXPECT_THAT(ids(base.modules), ElementsAre("a", "b", "c"));
  ASSERT_EQ(base.modules[1].options.size(), 2u);
  EXPECT_EQ(base.modules[1].options[1].shape, RawOption::Shape::List);
  EXPECT_FALSE(base.modules[1].options[1].values[0].quoted);
  EXPECT_TRUE(base.modules[1].options[1].values[1].quoted);
  ASSERT_EQ(base.search.size(), 1u);
  EXPECT_EQ(base.search[0].searcher.id, "s");
  EXPECT_EQ(base.search[0].trials, 0);
  EXPECT_EQ(base.cost_model.id, "m");
}

TEST(SpacesText, AnExtensionTakesAllThatItDoesNotSay) {
  const SpacesFile file = with_own("    extends: base\n    search: {kind: other}\n");
  const SpaceSpec& own = file.space("own");
  EXPECT_EQ(own.search[0].searcher.id, "other");
  EXPECT_TRUE(own.search[0].searcher.options.empty()) << "another searcher has other options";
  EXPECT_THAT(ids(own.modules), ElementsAre("a", "b", "c"));
  EXPECT_EQ(own.cost_model.id, "m");
  EXPECT_EQ(own.location.str(), "s.yaml:8:3");
}

TEST(SpacesText, ModulesAreAddedAndRemoved) {
  const SpacesFile file = with_own(
      "    extends: base\n"
      "    modules+:\n"
      "      - {use: first, before: a, options: {size: 2}}\n"
      "      - {use: middle, after: b}\n"
      "      - {remove: c}\n"
      "      - {use: last}\n");
  EXPECT_THAT(ids(file.space("own").modules), ElementsAre("first", "a", "b", "middle", "last"));
  EXPECT_EQ(file.space("own").modules[0].options[0].values[0].text, "2");
}

TEST(SpacesText, ATargetIsChangedInPartOrReplaced) {
  const SpacesFile changed = with_own("    extends: base\n    target: {speed: 4, size: 1, with+: [more]}\n");
  const SpaceSpec& own = changed.space("own");
  EXPECT_EQ(own.target.id, "t");
  ASSERT_EQ(own.target.options.size(), 2u);
  EXPECT_EQ(own.target.options[0].values[0].text, "4");
  EXPECT_THAT(ids(own.extensions), ElementsAre("near", "far?", "more"));
  const SpacesFile replaced = with_own("    extends: base\n    target: {kind: u}\n");
  EXPECT_TRUE(replaced.space("own").target.options.empty());
  EXPECT_TRUE(replaced.space("own").extensions.empty());
}

TEST(SpacesText, AChainHasItsTrials) {
  const SpacesFile file =
      with_own("    extends: base\n    search: {chain: [s: {greed: 1, trials: 64}, t]}\n");
  const std::vector<SpaceSpec::Stage>& stages = file.space("own").search;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].trials, 64);
  ASSERT_EQ(stages[0].searcher.options.size(), 1u) << "'trials' is not the searcher's";
  EXPECT_EQ(stages[1].searcher.id, "t");
}

TEST(SpacesText, AClassInPythonStandsWhereAnIdDoes) {
  const SpacesFile file = with_own(
      "    extends: base\n"
      "    modules: [a, python: m.py:Plain, {python: m.py:Tile, options: {size: 2}}]\n"
      "    modules+: [{python: m.py:First, options: {size: 3}, before: m.py:Tile}, {remove: m.py:Plain}]\n"
      "    search: {chain: [{python: s.py:S, options: {greed: 1}, trials: 64}, t]}\n"
      "    cost_model: {python: c.py:C, size: 4}\n"
      "    task_scheduler: {python: d.py:D}\n");
  const SpaceSpec& own = file.space("own");
  EXPECT_THAT(ids(own.modules), ElementsAre("a", "m.py:First", "m.py:Tile"));
  EXPECT_EQ(own.modules[1].options.at(0).values[0].text, "3");
  EXPECT_EQ(own.modules[2].options.at(0).values[0].text, "2");
  EXPECT_EQ(own.modules[2].location.str(), "s.yaml:10:47");
  ASSERT_EQ(own.search.size(), 2U);
  EXPECT_EQ(own.search[0].searcher.id, "s.py:S");
  EXPECT_EQ(own.search[0].searcher.options.at(0).values[0].text, "1");
  EXPECT_EQ(own.search[0].trials, 64);
  EXPECT_EQ(own.cost_model.id, "c.py:C");
  EXPECT_EQ(own.cost_model.options.at(0).name, "size");
  EXPECT_EQ(own.task_scheduler.id, "d.py:D");
}

TEST(SpacesText, ARunnerHasOptionsAndIsInherited) {
  const SpacesFile file = SpacesFile::parse(std::string(kBase) +
                                                "  own: {extends: base, runner: {kind: r, place: there}}\n"
                                                "  next: {extends: own}\n",
                                            "s.yaml");
  EXPECT_EQ(file.space("base").runner.id, "");
  EXPECT_EQ(file.space("next").runner.id, "r");
  EXPECT_EQ(file.space("next").runner.options.at(0).name, "place");
}

TEST(SpacesText, DefaultAndPluginFolders) {
  const std::string text =
      std::string(kBase) + "  own: {extends: base}\ndefault: own\nplugins: [packs, /abs]\n";
  const SpacesFile file = SpacesFile::parse(text, "dir/s.yaml");
  EXPECT_EQ(file.space("").name, "own");
  EXPECT_THAT(file.plugin_paths(), ElementsAre("dir/packs", "/abs"));
  EXPECT_THAT([&] { static_cast<void>(file.space("onw")); },
              ThrowsMessage<UserError>("dir/s.yaml: no space 'onw'; did you mean 'own'?"));
}

struct Refusal {
  const char* lines;  // of the space `own`
  const char* message;
};

class RefusedSpaces : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedSpaces, AreRefusedAtTheirPlace) {
  EXPECT_THAT([] { with_own(GetParam().lines); }, ThrowsMessage<UserError>(StartsWith(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedSpaces,
    testing::Values(
        Refusal{"    extends: own\n", "s.yaml:9:14: circular 'extends': own → own"},
        Refusal{"    extends: other\n  other: {extends: third}\n  third: {extends: own}\n",
                "s.yaml:11:20: circular 'extends': own → other → third → own"},
        Refusal{"    extends: bass\n", "s.yaml:9:14: no space 'bass'; did you mean 'base'?"},
        Refusal{"    extends: base\n    extends: base\n", "s.yaml:10:5: "},
        Refusal{"    extends: base\n    serch: {kind: s}\n", "s.yaml:10:5: "},
        Refusal{"    extends: base\n    search: s\n", "s.yaml:10:13: search: expected a mapping"},
        Refusal{"    extends: base\n    search: {greed: 1}\n",
                "s.yaml:10:13: search: expected the key 'kind'"},
        Refusal{"    extends: base\n    search: {python: s.py}\n",
                "s.yaml:10:22: search python: expected FILE.py:CLASS, found 's.py'"},
        Refusal{"    extends: base\n    search: {kind: s, python: s.py:S}\n",
                "s.yaml:10:20: search: expected either 'kind' or 'python'"},
        Refusal{"    extends: base\n    modules: [{python: m.py:M, factor: 2}]\n",
                "s.yaml:10:32: a module in Python has no key 'factor'"},
        Refusal{"    extends: base\n    modules+: [{python: m.py:M, use: a}]\n",
                "s.yaml:10:38: expected either 'use' or 'python'"},
        Refusal{"    extends: base\n    modules: [python: m.py:M, python: m.py:M]\n",
                "s.yaml:10:39: duplicate module 'm.py:M'"},
        Refusal{"    extends: base\n    search: {chain: []}\n", "s.yaml:10:21: chain: expected at least one"},
        Refusal{"    extends: base\n    search: {chain: [s: {trials: 0}]}\n",
                "s.yaml:10:34: trials: expected a positive integer"},
        Refusal{"    extends: base\n    search: {chain: [s: {trials: ten}]}\n",
                "s.yaml:10:34: trials: expected an integer, found 'ten'"},
        Refusal{"    extends: base\n    modules: {a: 1}\n", "s.yaml:10:14: modules: expected a list"},
        Refusal{"    extends: base\n    modules: [a, b, a]\n", "s.yaml:10:21: duplicate module 'a'"},
        Refusal{"    extends: base\n    modules+: [{use: b}]\n", "s.yaml:10:22: duplicate module 'b'"},
        Refusal{"    extends: base\n    modules+: [{use: d, before: e}]\n",
                "s.yaml:10:33: no module 'e' in this space"},
        Refusal{"    extends: base\n    modules+: [{remove: d}]\n",
                "s.yaml:10:25: no module 'd' in this space"},
        Refusal{"    extends: base\n    modules+: [{use: d, before: a, after: b}]\n",
                "s.yaml:10:43: expected either 'before' or 'after', found both"},
        Refusal{"    extends: base\n    modules+: [{before: a}]\n",
                "s.yaml:10:16: an entry of modules+: expected"},
        Refusal{"    extends: base\n    modules+: [{remove: a, use: d}]\n",
                "s.yaml:10:16: 'remove' cannot have other keys"},
        Refusal{"    extends: base\n    target: {with+: [far]}\n", "s.yaml:10:22: duplicate extension 'far'"},
        Refusal{"    extends: base\n    max_sketches: 0\n",
                "s.yaml:10:19: max_sketches: expected a positive integer"},
        Refusal{"    extends: base\n    max_sketches: many\n",
                "s.yaml:10:19: max_sketches: expected an integer"},
        Refusal{"    target: {speed: 3}\n", "s.yaml:9:13: target: expected the key 'kind'"},
        Refusal{"    modules: [a]\n", "s.yaml:8:3: space 'own': expected the key target: {kind: ...}"}));

/// All faults of a file.
std::vector<std::string> faults_of(const std::string& text) {
  std::vector<UserError> faults;
  SpacesFile::parse(text, "s.yaml", faults);
  std::vector<std::string> messages;
  for (const UserError& fault : faults) messages.emplace_back(fault.what());
  return messages;
}

TEST(SpacesText, AllMistakesAreToldAtOnce) {
  EXPECT_THAT(faults_of(kBase), ElementsAre());
  EXPECT_THAT(
      faults_of(std::string(kBase) + "  own:\n"
                                     "    extends: base\n"
                                     "    serch: {kind: s}\n"
                                     "    modles: []\n"
                                     "    modules+: [{remove: d}, {use: e, befor: a}, {use: a}]\n"
                                     "    max_sketches: 0\n"
                                     "  other: {extends: bass}\n"
                                     "defalt: base\n"),
      ElementsAre(StartsWith("s.yaml:15:1: a spaces file has no key 'defalt'; did you mean 'default'?"),
                  StartsWith("s.yaml:10:5: a space has no key 'serch'; did you mean 'search'?"),
                  StartsWith("s.yaml:11:5: a space has no key 'modles'; did you mean 'modules'?"),
                  StartsWith("s.yaml:12:25: no module 'd' in this space"),
                  StartsWith("s.yaml:12:38: an entry of modules+ has no key 'befor'; did you mean 'before'?"),
                  StartsWith("s.yaml:12:55: duplicate module 'a'"),
                  StartsWith("s.yaml:13:19: max_sketches: expected a positive integer"),
                  StartsWith("s.yaml:14:20: no space 'bass'; did you mean 'base'?")));
}

TEST(SpacesText, WhatCanBeReadIsRead) {
  std::vector<UserError> faults;
  const SpacesFile file = SpacesFile::parse(
      std::string(kBase) +
          "  own: {extends: base, serch: 1}\n  heir: {extends: own}\n  good: {extends: base}\n",
      "s.yaml", faults);
  EXPECT_THAT(file.names(), ElementsAre("base", "good", "heir", "own"));
  EXPECT_EQ(faults.size(), 1U);
  EXPECT_TRUE(file.has_fault("own") && file.has_fault("heir"));
  EXPECT_FALSE(file.has_fault("base") || file.has_fault("good"));
}

TEST(SpacesText, ACircleIsToldOnce) {
  EXPECT_THAT(faults_of(std::string(kBase) +
                        "  a: {extends: b}\n  b: {extends: c}\n  c: {extends: b}\n  d: {extends: a}\n"),
              ElementsAre("s.yaml:10:16: circular 'extends': b → c → b; remove one 'extends'",
                          "s.yaml:8:16: space 'a' is not checked: it extends 'b'",
                          "s.yaml:11:16: space 'd' is not checked: it extends 'a'"));
}

TEST(SpacesText, ADescriptionIsOneLineAndNotInherited) {
  const SpacesFile file = with_own("    extends: base\n    description: For one.\n  heir: {extends: own}\n");
  EXPECT_EQ(file.space("own").description, "For one.");
  EXPECT_EQ(file.space("heir").description, "");
  EXPECT_THAT([] { with_own("    extends: base\n    description: \"a\\nb\"\n"); },
              ThrowsMessage<UserError>(StartsWith("s.yaml:10:18: description: expected one line")));
}

TEST(SpacesText, WhatIsRemovedIsKnownUntilItIsNamedAgain) {
  const SpacesFile file = with_own(
      "    extends: base\n    modules+: [{remove: c}, {remove: a}]\n"
      "  heir: {extends: own, modules+: [{use: a}]}\n");
  EXPECT_THAT(file.space("own").removed, ElementsAre("c", "a"));
  EXPECT_THAT(file.space("heir").removed, ElementsAre("c"));
}

TEST(SpacesText, FilesThatAreNoneAreRefused) {
  const auto parse = [](const std::string& text) { return [text] { SpacesFile::parse(text, "s.yaml"); }; };
  EXPECT_THAT(parse("spaces: {}\n"),
              ThrowsMessage<UserError>(StartsWith("s.yaml:1:1: expected the key 'version: 1'")));
  EXPECT_THAT(parse("version: 2\nspaces: {}\n"),
              ThrowsMessage<UserError>(StartsWith("s.yaml:1:10: unknown version 2")));
  EXPECT_THAT(parse("version: 1\n"),
              ThrowsMessage<UserError>(StartsWith("s.yaml:1:1: expected the key 'spaces'")));
  EXPECT_THAT(parse("version: 1\nspaces: {}\n"),
              ThrowsMessage<UserError>(StartsWith("s.yaml:2:9: spaces: expected at least one space")));
  EXPECT_THAT(parse("- version: 1\n"),
              ThrowsMessage<UserError>(StartsWith("s.yaml:1:1: a spaces file: expected")));
  EXPECT_THAT(parse(std::string(kBase) + "default: bass\n"),
              ThrowsMessage<UserError>("s.yaml:8:10: no space 'bass'; did you mean 'base'?"));
  EXPECT_THAT([] { SpacesFile::load("/nowhere/s.yaml"); },
              ThrowsMessage<UserError>(StartsWith("/nowhere/s.yaml")));
}

// Each space is read inside the one that extends it.
TEST(SpacesText, ChainsAndNumbersOfSpacesHaveALimit) {
  const auto chain = [](int count) {
    std::string text = kBase;
    for (int i = count; i > 1; --i) text += fmt::format("  s{}: {{extends: s{}}}\n", i, i - 1);
    return text + "  s1: {extends: base}\n";
  };
  EXPECT_EQ(SpacesFile::parse(chain(60), "s.yaml").space("s60").search.size(), 1U);
  EXPECT_THAT([&] { SpacesFile::parse(chain(100), "s.yaml"); },
              ThrowsMessage<UserError>(testing::HasSubstr("more than 64 spaces extend one another")));
  EXPECT_THAT([&] { SpacesFile::parse(chain(4000), "s.yaml"); },
              ThrowsMessage<UserError>(testing::HasSubstr("4001 spaces, at most 256 are allowed")));
}

}  // namespace
}  // namespace tunesmith
