#include "plugin/elf_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr PluginNote kNote = make_plugin_note(PluginKind::Searcher, "walker", "1.2.3");

TEST(PluginNote, HoldsWhatItWasMadeOf) {
  EXPECT_EQ(note_view(kNote.id), "walker");
  EXPECT_EQ(note_view(kNote.version), "1.2.3");
  EXPECT_EQ(kNote.kind, static_cast<uint32_t>(PluginKind::Searcher));
  EXPECT_EQ(kNote.api_major, kApiMajor);
  EXPECT_EQ(kNote.api_minor, kApiMinor);
}

TEST(PluginNote, OfThisBuildFitsThisKernel) {
  EXPECT_THAT(note_differences(kNote, kernel_note()), IsEmpty());
}

TEST(PluginNote, AllDifferencesAreListed) {
  PluginNote kernel = kNote;
  PluginNote plugin = kNote;
  plugin.api_minor = 7;
  kernel.api_minor = 3;
  plugin.abi.architecture = note_text<16>("sparc");
  kernel.abi.architecture = note_text<16>("x86_64");
  plugin.abi.standard_library = note_text<16>("libc++");
  kernel.abi.standard_library = note_text<16>("libstdc++");
  plugin.abi.compiler_abi = 1016;
  kernel.abi.compiler_abi = 1017;
  plugin.abi.cxx11_abi = 0;
  kernel.abi.cxx11_abi = 1;
  plugin.abi.debug_mode = 1;
  kernel.abi.debug_mode = 0;
  plugin.abi.sanitizers = 5;
  kernel.abi.sanitizers = 0;
  plugin.abi.cxx_standard = 202302;
  kernel.abi.cxx_standard = 202002;
  EXPECT_THAT(
      note_differences(plugin, kernel),
      ElementsAre("API version: built for 0.7, this is 0.3", "architecture: built for sparc, this is x86_64",
                  "standard library: built for libc++, this is libstdc++",
                  "compiler ABI: built for 1016, this is 1017",
                  "_GLIBCXX_USE_CXX11_ABI: built for 0, this is 1",
                  "debug mode of the standard library: built for on, this is off",
                  "sanitizers: built for address+memory, this is none",
                  "C++ standard: built for 202302, this is 202002"));
}

TEST(PluginNote, BeforeVersionOneTheMinorMustBeEqualAfterwardsNotNewer) {
  PluginNote kernel = kNote;
  PluginNote plugin = kNote;
  const auto accepted = [&](uint16_t plugin_major, uint16_t plugin_minor, uint16_t major, uint16_t minor) {
    plugin.api_major = plugin_major;
    plugin.api_minor = plugin_minor;
    kernel.api_major = major;
    kernel.api_minor = minor;
    return note_differences(plugin, kernel).empty();
  };
  EXPECT_TRUE(accepted(0, 2, 0, 2));
  EXPECT_FALSE(accepted(0, 1, 0, 2));
  EXPECT_FALSE(accepted(0, 3, 0, 2));
  EXPECT_TRUE(accepted(1, 1, 1, 2));
  EXPECT_FALSE(accepted(1, 3, 1, 2));
  EXPECT_FALSE(accepted(0, 9, 1, 2));
  EXPECT_FALSE(accepted(2, 0, 1, 2));
}

TEST(PluginKinds, HaveNames) {
  for (const PluginKind kind : kPluginKinds) EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  EXPECT_EQ(kind_from_name("gadget"), std::nullopt);
}

}  // namespace
}  // namespace tunesmith
