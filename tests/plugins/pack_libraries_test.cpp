// Libraries in a pack that its plugins need must be listed, hashed, and writable by nobody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <tunesmith/support/hash.h>

#include "pack_folder.h"

namespace tunesmith::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCompanion = "libtunesmith_test_companion.so.1";

class PackLibraries : public testing::Test {
 protected:
  PackLibraries() {
    pack_.add("test_plugin_with_companion");
    library_ = pack_.add_library(kCompanion);
  }
  /// Writes the manifest like the build.
  void write_manifest() {
    pack_.list_library(kCompanion);
    pack_.write_manifest();
  }

  PackFolder pack_;
  fs::path library_;
};

TEST_F(PackLibraries, AreInTheManifestThatTheBuildWrites) {
  const fs::path manifest = fs::path(TEST_LIBRARIES) / "test_plugin_with_companion.pack.json";
  PluginRegistry registry(PluginSearch{.command_line = {{manifest}}, .defaults = false});
  EXPECT_EQ(creation(registry, "subject"), "accepted");
  const PluginInfo& info = registry.info(PluginKind::Extension, "subject");
  ASSERT_EQ(info.libraries.size(), 1U);
  EXPECT_EQ(info.libraries.at(kCompanion), sha256_hex(read_file(library_)));
}

TEST_F(PackLibraries, OutsideOfThePackAreFoundFromWhereThePluginLies) {
  const fs::path manifest = fs::path(TEST_LIBRARIES) / "test_plugin_from_outside.pack.json";
  PluginRegistry registry(PluginSearch{.command_line = {{manifest}}, .defaults = false});
  EXPECT_EQ(creation(registry, "subject"), "accepted");
}

TEST_F(PackLibraries, ListedAreAccepted) {
  write_manifest();
  EXPECT_EQ(pack_.creation(), "accepted");
}

TEST_F(PackLibraries, NotListedAreRefused) {
  pack_.write_manifest();
  EXPECT_THAT(pack_.creation(),
              AllOf(HasSubstr("is refused: [P9] "),
                    HasSubstr("needs " + library_.string() + ", which is in the pack"),
                    HasSubstr("test.pack.json does not list it under \"libraries\"; remedy: ")));
}

TEST_F(PackLibraries, ChangedAreRefused) {
  write_manifest();
  const std::string good = read_file(library_);
  write_file(library_, good + "x");
  EXPECT_THAT(pack_.creation(),
              AllOf(HasSubstr("[P9] the SHA-256 of " + library_.string() + " is " + sha256_hex(good + "x")),
                    HasSubstr("says " + sha256_hex(good))));
}

TEST_F(PackLibraries, WritableByEverybodyAreRefused) {
  write_manifest();
  chmod(library_.c_str(), 0777);
  EXPECT_THAT(pack_.creation(),
              HasSubstr("[P8] " + library_.string() + " is writable by everybody (mode 777)"));
}

TEST_F(PackLibraries, LeadingOutOfThePackAreRefused) {
  write_manifest();
  fs::remove(library_);
  fs::create_symlink(fs::path(TEST_LIBRARIES) / kCompanion, library_);
  EXPECT_THAT(pack_.creation(), HasSubstr("[P10] " + library_.string() + " links to "));
}

TEST_F(PackLibraries, AreLockedWithTheirPlugin) {
  write_manifest();
  const fs::path lock = pack_.path() / "plugins.lock";
  PluginRegistry(pack_.search()).write_lock(lock);
  const auto locked_creation = [&lock](const PackFolder& pack) {
    PluginSearch search = pack.search();
    search.lock_file = lock;
    PluginRegistry registry(search);
    return creation(registry, "subject");
  };
  EXPECT_EQ(locked_creation(pack_), "accepted");

  PackFolder changed;  // another library with a correct manifest
  changed.add("test_plugin_with_companion");
  const fs::path library = changed.add_library(kCompanion);
  write_file(library, read_file(library) + "rebuilt");
  changed.list_library(kCompanion);
  changed.write_manifest();
  EXPECT_EQ(changed.creation(), "accepted");
  EXPECT_THAT(locked_creation(changed),
              AllOf(HasSubstr("[P15] the libraries bundled by "), HasSubstr("differ from the locked ones")));
}

TEST_F(PackLibraries, ChangedAreNotLocked) {
  write_manifest();
  write_file(library_, read_file(library_) + "x");
  EXPECT_THAT([&] { PluginRegistry(pack_.search()).write_lock(pack_.path() / "plugins.lock"); },
              testing::ThrowsMessage<PluginError>(HasSubstr("[P9] the SHA-256 of " + library_.string())));
}

TEST(PackLibrariesSearch, ARelativeFolderIsRefused) {
  PackFolder pack;
  pack.add("test_plugin_relative_rpath");
  pack.write_manifest();
  EXPECT_THAT(pack.creation(),
              AllOf(HasSubstr("[P10] "), HasSubstr("searches libraries in 'libs', relative to ")));
}

}  // namespace
}  // namespace tunesmith::test
