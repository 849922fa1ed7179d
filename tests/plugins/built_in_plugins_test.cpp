// The built-in plugins are found in the build without any setting, and loaded like a stranger's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/registry.h>

namespace tunesmith::test {
namespace {

TEST(BuiltInPlugins, EachIsFoundAndLoads) {
  PluginRegistry registry;
  size_t count = 0;
  for (const PluginInfo& plugin : registry.list()) {
    if (plugin.source != PluginSource::System) continue;
    ++count;
    // A pack of several plugins has a folder of its name.
    const std::filesystem::path place = TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins";
    EXPECT_THAT(plugin.manifest.parent_path(), ::testing::AnyOf(place, place / plugin.pack));
    EXPECT_EQ(check_option_specs(registry.option_specs(plugin.kind, plugin.id)), "");
    EXPECT_NE(registry.help(plugin.kind, plugin.id), "");
  }
  EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace tunesmith::test
