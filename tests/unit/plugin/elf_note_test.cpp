#include "plugin/elf_note.h"

#include <fmt/format.h>
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
  EXPECT_EQ(note_view(kNote.header_hash), kHeaderHash);
  EXPECT_EQ(kNote.abi.boost, BOOST_VERSION);
}

TEST(PluginNote, OfThisBuildFitsThisKernel) {
  EXPECT_THAT(note_differences(kNote, kernel_note()), IsEmpty());
}

TEST(PluginNote, AllDifferencesAreListed) {
  PluginNote kernel = kNote;
  PluginNote plugin = kNote;
  plugin.api_major = 0;
  kernel.api_major = 0;
  plugin.api_minor = 7;
  kernel.api_minor = 3;
  plugin.header_hash = note_text<24>("0011223344556677");
  kernel.header_hash = note_text<24>("8899aabbccddeeff");
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
  plugin.abi.boost = 108100;
  kernel.abi.boost = 107401;
  plugin.abi.expected = 10101;
  kernel.abi.expected = 10000;
  EXPECT_THAT(
      note_differences(plugin, kernel),
      ElementsAre("interface: built for API 0.7 with headers 0011223344556677, this is API 0.3 with headers "
                  "8899aabbccddeeff",
                  "architecture: built for sparc, this is x86_64",
                  "standard library: built for libc++, this is libstdc++",
                  "compiler ABI: built for 1016, this is 1017",
                  "_GLIBCXX_USE_CXX11_ABI: built for 0, this is 1",
                  "debug mode of the standard library: built for on, this is off",
                  "sanitizers: built for address+memory, this is none",
                  "C++ standard: built for 202302, this is 202002", "Boost: built for 1.81.0, this is 1.74.1",
                  "tl::expected: built for 1.1.1, this is 1.0.0"));
}

TEST(PluginNote, TheHeadersDecide) {
  PluginNote plugin = kNote;
  plugin.header_hash = note_text<24>("0011223344556677");
  const std::string version = fmt::format("API {}.{} with headers ", kApiMajor, kApiMinor);
  EXPECT_THAT(note_differences(plugin, kNote),
              ElementsAre(fmt::format("interface: built for {}0011223344556677, this is {}{}", version,
                                      version, kHeaderHash)));
}

TEST(PluginKinds, HaveNames) {
  for (const PluginKind kind : kPluginKinds) EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  EXPECT_EQ(kind_from_name("gadget"), std::nullopt);
}

}  // namespace
}  // namespace tunesmith
