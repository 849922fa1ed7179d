#include "plugin/search_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<SearchPlace>& places) {
  std::vector<std::string> lines;
  lines.reserve(places.size());
  for (const SearchPlace& place : places) {
    lines.push_back(std::string(source_name(place.source)) + " " + place.path.string() +
                    (place.ignored.empty() ? "" : " ignored"));
  }
  return lines;
}

const PluginEnvironment kEnvironment{"/one::/two", "/data", "/home/me", false, "/usr/lib"};

TEST(SearchPath, PlacesComeInTheDocumentedOrder) {
  const PluginSearch search{.command_line = {{"/cli"}}, .spaces = {{"/spaces"}}};
  EXPECT_THAT(
      texts(search_places(search, kEnvironment)),
      ElementsAre("--plugin-path /cli", "plugins: in the spaces file /spaces", "TUNESMITH_PLUGIN_PATH /one",
                  "TUNESMITH_PLUGIN_PATH /two", "the user's folder /data/tunesmith/plugins",
                  "the system's folder /usr/lib/tunesmith/plugins"));
}

TEST(SearchPath, DefaultsCanBeLeftOut) {
  const PluginSearch search{.command_line = {{"/cli"}}, .defaults = false};
  EXPECT_THAT(texts(search_places(search, kEnvironment)), ElementsAre("--plugin-path /cli"));
}

TEST(SearchPath, TheUsersFolderFollowsXdg) {
  PluginEnvironment environment = kEnvironment;
  environment.plugin_path.clear();
  environment.data_home = "relative";  // XDG: a relative path is to be ignored
  EXPECT_EQ(search_places({}, environment).front().path, "/home/me/.local/share/tunesmith/plugins");
  environment.data_home.clear();
  EXPECT_EQ(search_places({}, environment).front().path, "/home/me/.local/share/tunesmith/plugins");
  environment.home.clear();
  EXPECT_THAT(texts(search_places({}, environment)),
              ElementsAre("the system's folder /usr/lib/tunesmith/plugins"));
}

TEST(SearchPath, WhatTheCallerControlsIsIgnoredWhenSetId) {
  PluginEnvironment environment = kEnvironment;
  environment.set_id = true;
  EXPECT_THAT(texts(search_places({}, environment)),
              ElementsAre("TUNESMITH_PLUGIN_PATH /one ignored", "TUNESMITH_PLUGIN_PATH /two ignored",
                          "the user's folder /data/tunesmith/plugins ignored",
                          "the system's folder /usr/lib/tunesmith/plugins"));
}

TEST(SearchPath, TheSystemsFolderLiesBesideTheKernel) {
  EXPECT_EQ(PluginEnvironment::of_this_process().kernel_folder, TUNESMITH_BINARY_DIR "/lib");
  EXPECT_FALSE(PluginEnvironment::of_this_process().set_id);
}

}  // namespace
}  // namespace tunesmith
