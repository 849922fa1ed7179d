// Finding, listing, the account of the search, lock files, and making objects.
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <tunesmith/target/target.h>

#include "pack_folder.h"

namespace tunesmith::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;
using Outcome = PluginLogEntry::Outcome;

std::vector<std::string> ids(const std::vector<PluginInfo>& plugins) {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins) names.push_back(plugin.id);
  return names;
}

TEST(PluginRegistry, ListsWhatTheManifestsSayAndLoadsNothing) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.add_file("nowhere.so", "absent");
  pack.write_manifest();
  const PluginRegistry registry(pack.search());
  EXPECT_THAT(ids(registry.list()), ElementsAre("absent", "subject"));
  EXPECT_THAT(ids(registry.list(PluginKind::Module)), ElementsAre());
  const PluginInfo& info = registry.info(PluginKind::Extension, "subject");
  EXPECT_EQ(info.pack, "test");
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.vendor, "Test");
  EXPECT_EQ(info.licence, "MIT");
  EXPECT_EQ(info.source, PluginSource::CommandLine);
  EXPECT_EQ(info.library, pack.path() / "test_plugin_none.so");
  for (const PluginLogEntry& entry : registry.log()) EXPECT_NE(entry.outcome, Outcome::Loaded);
}

TEST(PluginRegistry, CreatesObjectsThatOutliveIt) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  std::shared_ptr<TargetExtension> extension;
  {
    PluginRegistry registry(pack.search());
    const auto& specs = registry.option_specs(PluginKind::Extension, "subject");
    ASSERT_EQ(specs.size(), 1U);
    EXPECT_EQ(specs[0].name, "scale");
    EXPECT_EQ(registry.plugin_version(PluginKind::Extension, "subject"), "2.1.0");
    EXPECT_EQ(registry.help(PluginKind::Extension, "subject"), "does nothing");
    const std::vector<RawOption> written = {{"scale",
                                             {"s.yaml", 2, 3},
                                             RawOption::Shape::Scalar,
                                             {{"2.5", {"s.yaml", 2, 10}, false}},
                                             {"s.yaml", 2, 10}}};
    extension =
        registry.create<TargetExtension>("subject", Options::validate(specs, written, "extension 'subject'"));
    EXPECT_EQ(registry.log().back().outcome, Outcome::Loaded);
  }
  DeviceModel device;
  extension->describe(device);
  EXPECT_EQ(device.all().at("scale"), 2.5);
}

TEST(PluginRegistry, TheBuildWritesAManifestThatIsAccepted) {
  PluginRegistry registry(
      {.command_line = {{fs::path(TEST_LIBRARIES) / "test_neighbour.pack.json"}}, .defaults = false});
  EXPECT_EQ(creation(registry, "neighbour"), "accepted");
  EXPECT_EQ(registry.info(PluginKind::Extension, "neighbour").vendor, "The \"Test\" Vendor");
}

TEST(PluginRegistry, UnknownIdGivesTheNearestAndEveryPlaceLookedAt) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  write_file(pack.path() / "damaged.pack.json", "{");
  PluginRegistry registry(pack.search());
  EXPECT_THAT(
      [&] { registry.option_specs(PluginKind::Extension, "subjct", {"spaces.yaml", 7, 18}); },
      ThrowsMessage<UserError>(AllOf(
          StartsWith("spaces.yaml:7:18: unknown extension 'subjct'; did you mean 'subject'?; looked at: "),
          HasSubstr("--plugin-path " + pack.path().string() + " (searched: manifests: 2)"),
          HasSubstr("damaged.pack.json (refused: [P6] "))));
}

TEST(PluginRegistry, UnknownIdOfAnotherKindsPluginSaysSo) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  PluginRegistry registry(pack.search());
  EXPECT_THAT([&] { registry.option_specs(PluginKind::Module, "subject"); },
              ThrowsMessage<UserError>(
                  StartsWith("unknown module 'subject'; an extension has this name; looked at: ")));
}

TEST(PluginRegistry, OfTwoOfOneIdTheOneThatComesWithTheKernelStays) {
  PackFolder pack;
  fs::copy_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", pack.path() / "x.so");
  pack.add_file("x.so");
  pack.write_manifest();
  std::string text = read_file(pack.path() / "test.pack.json");
  text.replace(text.find("extension"), 9, "searcher");
  text.replace(text.find("subject"), 7, "random");
  write_file(pack.path() / "test.pack.json", text);
  PluginSearch search = pack.search();
  search.defaults = true;
  PluginRegistry registry(search);
  const PluginInfo& info = registry.info(PluginKind::Searcher, "random");
  EXPECT_EQ(info.source, PluginSource::System);
  EXPECT_NO_THROW(registry.option_specs(PluginKind::Searcher, "random"));
  EXPECT_EQ(std::ranges::count(ids(registry.list(PluginKind::Searcher)), "random"), 1);
  const std::vector<PluginLogEntry> log = registry.log();
  const auto refused = std::ranges::find(log, pack.path() / "x.so", &PluginLogEntry::path);
  ASSERT_NE(refused, log.end());
  EXPECT_EQ(refused->outcome, Outcome::Refused);
  EXPECT_THAT(refused->detail, AllOf(StartsWith("[P7] searcher 'random' is built in, from "),
                                     HasSubstr("cannot be replaced")));
}

TEST(PluginRegistry, LinesOfHelpSurviveAPluginThatCrashes) {
  PackFolder pack;
  pack.add("test_plugin_crashes_while_loading", "a");
  pack.add("test_plugin_none");
  pack.add("test_plugin_no_note", "z");
  pack.write_manifest();
  EXPECT_THAT(PluginRegistry(pack.search()).help_lines(), ElementsAre("", "does nothing", ""));
}

TEST(PluginRegistry, FindsPacksInSubfoldersButNotBelow) {
  PackFolder pack;
  for (const char* folder : {"b", "a", "a/deep"}) {
    fs::create_directories(pack.path() / folder);
    PackFolder other;
    other.add_file("x.so", std::string(1, folder[0]) + (std::string(folder).size() > 1 ? "_deep" : ""));
    other.write_manifest();
    fs::copy_file(other.path() / "test.pack.json", pack.path() / folder / "test.pack.json");
  }
  EXPECT_THAT(ids(PluginRegistry(pack.search()).list()), ElementsAre("a", "b"));
}

TEST(PluginRegistry, AManifestReachedTwiceIsReadOnce) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  PluginSearch search = pack.search();
  search.spaces = {{pack.path() / "test.pack.json"}};
  PluginRegistry registry(search);
  EXPECT_EQ(creation(registry, "subject"), "accepted");
}

TEST(PluginRegistry, APlaceThatAPersonNamedMustExist) {
  const PluginSearch search{.spaces = {{"/no/such/folder", {"spaces.yaml", 2, 5}}}, .defaults = false};
  EXPECT_THAT(
      [&] { PluginRegistry registry(search); },
      ThrowsMessage<UserError>(
          "spaces.yaml:2:5: plugins: in the spaces file: no such folder or manifest: /no/such/folder"));
}

TEST(PluginRegistry, ManifestWritableByEverybodyIsRefused) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  chmod((pack.path() / "test.pack.json").c_str(), 0666);
  EXPECT_THAT(pack.creation(), AllOf(StartsWith("unknown extension 'subject'"), HasSubstr("[P8]"),
                                     HasSubstr("is writable by everybody (mode 666)")));
}

TEST(PluginRegistry, TheEnvironmentVariableIsLookedAt) {
  PackFolder pack;
  pack.add("test_neighbour", "neighbour");
  pack.write_manifest();
  setenv("TUNESMITH_PLUGIN_PATH", ("/nowhere/at/all:" + pack.path().string()).c_str(), 1);
  PluginRegistry registry;
  unsetenv("TUNESMITH_PLUGIN_PATH");
  EXPECT_EQ(registry.info(PluginKind::Extension, "neighbour").source, PluginSource::Environment);
  bool absent = false;
  for (const PluginLogEntry& entry : registry.log()) {
    absent |= entry.outcome == Outcome::Absent && entry.path == "/nowhere/at/all";
  }
  EXPECT_TRUE(absent);
}

constexpr const char* kUnit = R"(extension: unit
description: Copies three elements.
target: llvm
intrinsics:
  - name: registry_test_copy_3
    semantics: |
      inputs: {X: {shape: [3], dtype: f32}}
      compute: |
        O[i<3] = X[i]
      outputs: [O]
    implementation: {fragment: "ret <3 x float> %X", arguments: [X]}
)";

TEST(PluginRegistry, AnExtensionMayBeAFile) {
  PackFolder pack;
  write_file(pack.path() / "unit.yaml", kUnit);
  pack.add_file("unit.yaml", "unit");
  pack.write_manifest();
  PluginRegistry registry(pack.search());
  EXPECT_TRUE(registry.option_specs(PluginKind::Extension, "unit").empty());
  EXPECT_EQ(registry.help(PluginKind::Extension, "unit"), "Copies three elements.");
  EXPECT_EQ(registry.plugin_version(PluginKind::Extension, "unit"), "1.2.3");
  const auto unit = registry.create<TargetExtension>("unit", Options::defaults({}, "extension 'unit'"));
  LowerOptions options;
  unit->adapt(options);
  ASSERT_EQ(options.intrinsics.size(), 1U);
  EXPECT_EQ(options.intrinsics[0]->name, "registry_test_copy_3");
  EXPECT_EQ(registry.probe(PluginKind::Extension, "unit"), "");
}

TEST(PluginRegistry, TheRulesOfTrustHoldForFilesToo) {
  const auto said = [](const std::string& text, const std::string& id, mode_t mode, const char* later) {
    PackFolder pack;
    pack.add("test_neighbour", "neighbour");
    const fs::path file = pack.path() / "unit.yaml";
    write_file(file, text);
    pack.add_file("unit.yaml", id);
    pack.write_manifest();
    chmod(file.c_str(), mode);
    if (later != nullptr) write_file(file, later);
    EXPECT_EQ(pack.creation("neighbour"), "accepted");
    return pack.creation(id);
  };
  EXPECT_THAT(said(kUnit, "unit", 0644, nullptr), StartsWith("created"));
  EXPECT_THAT(said(kUnit, "unit", 0666, nullptr), HasSubstr("[P8] "));
  EXPECT_THAT(said(kUnit, "unit", 0644, "extension: unit\n"), HasSubstr("[P9] its SHA-256 is "));
  EXPECT_THAT(said(kUnit, "other", 0644, nullptr),
              HasSubstr("lists extension 'other', but it contains extension 'unit'"));
  EXPECT_THAT(
      said("extension: unit\ntarget: llvm\nintrinsic: []\n", "unit", 0644, nullptr),
      AllOf(HasSubstr("[P1] "), HasSubstr("unit.yaml:3:1: "), HasSubstr("did you mean 'intrinsics'")));
}

TEST(PluginRegistry, LockedAcceptsWhatWasLocked) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  const fs::path lock = pack.path() / "plugins.lock";
  PluginRegistry(pack.search()).write_lock(lock);
  PluginSearch search = pack.search();
  search.lock_file = lock;
  PluginRegistry registry(search);
  EXPECT_EQ(creation(registry, "subject"), "accepted");
}

TEST(PluginRegistry, LockedRefusesWhatChangedOrIsNew) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  const fs::path lock = pack.path() / "plugins.lock";
  PluginRegistry(pack.search()).write_lock(lock);

  PackFolder changed;  // the same plugin with changed content and a correct manifest
  write_file(changed.path() / "subject.so", read_file(pack.path() / "test_plugin_none.so") + "rebuilt");
  changed.add_file("subject.so");
  changed.add("test_neighbour", "neighbour");
  changed.write_manifest();
  PluginSearch search = changed.search();
  EXPECT_EQ(changed.creation(), "accepted");
  search.lock_file = lock;
  PluginRegistry registry(search);
  EXPECT_THAT(creation(registry, "subject"), HasSubstr("[P15] locked is version 1.2.3 with SHA-256 "));
  EXPECT_THAT(creation(registry, "neighbour"), HasSubstr("[P15] the lock file does not list it"));
}

TEST(PluginRegistry, ALockFileThatOthersCanWriteIsRefused) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  PluginSearch search = pack.search();
  search.lock_file = pack.path() / "plugins.lock";
  const mode_t mask = umask(0);
  PluginRegistry(pack.search()).write_lock(*search.lock_file);
  umask(mask);
  PluginRegistry registry(search);  // the lock file is trusted although the umask is wide
  EXPECT_EQ(creation(registry, "subject"), "accepted");

  chmod(search.lock_file->c_str(), 0666);
  EXPECT_THAT([&] { PluginRegistry refused(search); },
              ThrowsMessage<EnvironmentError>(AllOf(
                  HasSubstr("[P8] " + search.lock_file->string() + " is writable by everybody (mode 666)"),
                  HasSubstr("chmod go-w " + search.lock_file->string()))));
}

TEST(PluginRegistry, ALockFileThatIsMissingIsAnError) {
  const PluginSearch search{.defaults = false, .lock_file = "/no/such/plugins.lock"};
  EXPECT_THAT([&] { PluginRegistry registry(search); },
              ThrowsMessage<UserError>(HasSubstr("/no/such/plugins.lock: no such lock file")));
}

TEST(PluginRegistry, LockingAPluginWithAWrongHashFails) {
  PackFolder pack;
  const fs::path library = pack.add("test_plugin_none");
  pack.write_manifest();
  write_file(library, "changed");
  EXPECT_THAT([&] { PluginRegistry(pack.search()).write_lock(pack.path() / "plugins.lock"); },
              ThrowsMessage<PluginError>(HasSubstr("[P9]")));
  EXPECT_FALSE(fs::exists(pack.path() / "plugins.lock"));
}

TEST(PluginRegistry, ManyThreadsLoadOnePluginOnce) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  PluginRegistry registry(pack.search());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] { EXPECT_EQ(creation(registry, "subject"), "accepted"); });
  }
  size_t loaded = 0;
  for (const PluginLogEntry& entry : registry.log()) loaded += entry.outcome == Outcome::Loaded ? 1 : 0;
  EXPECT_EQ(loaded, 1U);
}

}  // namespace
}  // namespace tunesmith::test
