// Plugins that are classes in files of Python: finding the file, making the object, refusals.
#include "plugin/scripts.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/registry.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// The arguments of the reader of classes, which a program that runs Python would set.
std::vector<ScriptSource> g_read;

ScriptPlugin read_nothing(const ScriptSource& source) {
  g_read.push_back(source);
  return {{OptionSpec::integer("factor", 4, "a factor")}, "does nothing", [](const Options& options) {
            return std::make_shared<int64_t>(options.get_int("factor"));
          }};
}

class ScriptTest : public testing::Test {
 protected:
  ScriptTest() {
    write("class Tile: pass\n");
    g_read.clear();
    set_script_reader(read_nothing);
  }
  ~ScriptTest() override { set_script_reader(nullptr); }

  void write(const std::string& text) const { std::ofstream(folder_ / "tile.py") << text; }
  SourceLocation place() const { return {(folder_ / "s.yaml").string(), 7, 15}; }

  const test::TemporaryFolder folder_;
};

TEST(ScriptName, IsAFileAndAClass) {
  const std::optional<ScriptName> name = script_name("../a.py/tile.py:Tile");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->file, "../a.py/tile.py");
  EXPECT_EQ(name->class_name, "Tile");
  for (const char* other : {"tile", "tile.py", "tile.py:", ".py:Tile", "tile.pyc:Tile", "py:Tile"})
    EXPECT_FALSE(script_name(other)) << other;
}

TEST_F(ScriptTest, TheFileIsBesideTheOneThatNamesIt) {
  Scripts scripts;
  const LoadedScript* script = scripts.load(PluginKind::Module, "tile.py:Tile", place());
  ASSERT_NE(script, nullptr);
  ASSERT_EQ(g_read.size(), 1U);
  EXPECT_EQ(g_read[0].file, folder_ / "tile.py");
  EXPECT_EQ(g_read[0].text, "class Tile: pass\n");
  EXPECT_EQ(g_read[0].class_name, "Tile");
  EXPECT_EQ(g_read[0].asked_at.str(), place().str());
  EXPECT_EQ(scripts.load(PluginKind::Module, "tile.py:Tile", {}), script) << "it is read once";
  EXPECT_EQ(scripts.load(PluginKind::Module, "multi_level_tiling", place()), nullptr);
}

TEST_F(ScriptTest, TheVersionIsOfTheText) {
  const auto version = [&] {
    Scripts scripts;
    return scripts.load(PluginKind::Module, "tile.py:Tile", place())->version;
  };
  const std::string before = version();
  EXPECT_THAT(before, testing::MatchesRegex("sha256:[0-9a-f]{16}"));
  EXPECT_EQ(version(), before);
  write("class Tile: 'another'\n");
  EXPECT_NE(version(), before);
}

TEST_F(ScriptTest, WhatIsMissingIsSaidWhereItIsNamed) {
  Scripts scripts;
  EXPECT_THAT([&] { scripts.load(PluginKind::Module, "tiles.py:Tile", place()); },
              ThrowsMessage<UserError>(
                  AllOf(StartsWith(place().str() + ": the file "), HasSubstr("tiles.py cannot be read"))));
  EXPECT_THAT([&] { scripts.load(PluginKind::CostModel, "tile.py:Tile", {"--model"}); },
              ThrowsMessage<UserError>(HasSubstr("tile.py: cannot be read")))
      << "an option's file is relative to the current folder";
}

TEST_F(ScriptTest, AProgramWithoutPythonSaysHowToUseTheSpace) {
  set_script_reader(nullptr);
  Scripts scripts;
  EXPECT_THAT([&] { scripts.load(PluginKind::Module, "tile.py:Tile", place()); },
              ThrowsMessage<EnvironmentError>(
                  AllOf(StartsWith(place().str() + ": module 'tile.py:Tile' is a Python class"),
                        HasSubstr("ts.Space.load(\""))));
  EXPECT_THAT([&] { scripts.load(PluginKind::Searcher, "tile.py:Tile", {"--search"}); },
              ThrowsMessage<EnvironmentError>(HasSubstr("in the arguments of tunesmith.tune()")));
}

TEST_F(ScriptTest, ARegistryMakesThemOfTheirOptions) {
  PluginRegistry registry({.defaults = false});
  const auto& specs = registry.option_specs(PluginKind::Searcher, "tile.py:Tile", place());
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(registry.help(PluginKind::Searcher, "tile.py:Tile"), "does nothing");
  EXPECT_THAT(registry.plugin_version(PluginKind::Searcher, "tile.py:Tile"), StartsWith("sha256:"));
  EXPECT_TRUE(registry.list().empty()) << "they are in no pack";
}

TEST_F(ScriptTest, ALockedRunHasNone) {
  const fs::path lock = folder_ / "plugins.lock";
  PluginRegistry({.defaults = false}).write_lock(lock);
  PluginRegistry registry({.defaults = false, .lock_file = lock});
  EXPECT_THAT([&] { registry.option_specs(PluginKind::Module, "tile.py:Tile", place()); },
              ThrowsMessage<PluginError>(HasSubstr("[P15]")));
}

}  // namespace
}  // namespace tunesmith
