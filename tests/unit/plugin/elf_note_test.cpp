#include "plugin/elf_note.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr PluginNote kNote = make_exact_note(PluginKind::Searcher, "walker", "1.2.3");

constexpr PluginNote kStableNote = make_stable_note(PluginKind::Module, "acme_tile", "1.2.3", 2, 4);

PluginNote kernel_of_exact_searchers() { return kernel_note(PluginTier::Exact, PluginKind::Searcher); }

std::vector<std::string> texts(const std::vector<NoteDifference>& differences) {
  std::vector<std::string> texts;
  for (const NoteDifference& difference : differences) texts.push_back(difference.text);
  return texts;
}

TEST(PluginNote, HoldsWhatItWasMadeOf) {
  EXPECT_EQ(note_view(kNote.id), "walker");
  EXPECT_EQ(note_view(kNote.version), "1.2.3");
  EXPECT_EQ(kNote.tier, static_cast<uint32_t>(PluginTier::Exact));
  EXPECT_EQ(kNote.kind, static_cast<uint32_t>(PluginKind::Searcher));
  EXPECT_EQ(kNote.api_major, kApiMajor);
  EXPECT_EQ(kNote.api_minor, kApiMinor);
  EXPECT_EQ(note_view(kNote.header_hash), header_hash(PluginKind::Searcher));
  EXPECT_EQ(kNote.abi.boost, BOOST_VERSION);
}

TEST(PluginNote, OfTheStableTierSaysWhichVersionItNeeds) {
  EXPECT_EQ(note_view(kStableNote.id), "acme_tile");
  EXPECT_EQ(kStableNote.tier, static_cast<uint32_t>(PluginTier::Stable));
  EXPECT_EQ(kStableNote.api_major, 2);
  EXPECT_EQ(kStableNote.api_minor, 4);
  EXPECT_EQ(note_view(kStableNote.header_hash), "");
}

TEST(PluginNote, OfThisBuildFitsThisKernel) {
  EXPECT_THAT(note_differences(kNote, kernel_of_exact_searchers()), IsEmpty());
}

TEST(PluginNote, EachKindHasAHashOfItsOwn) {
  for (const PluginKind kind : kPluginKinds) {
    const PluginNote kernel = kernel_note(PluginTier::Exact, kind);
    EXPECT_EQ(note_view(kernel.header_hash), header_hash(kind));
    EXPECT_EQ(header_hash(kind).size(), 16U);
    for (const PluginKind other : kPluginKinds)
      EXPECT_EQ(kind == other, header_hash(kind) == header_hash(other));
  }
}

TEST(PluginNote, AllDifferencesAreListed) {
  PluginNote kernel = kernel_of_exact_searchers();
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
  const std::vector<NoteDifference> differences = note_differences(plugin, kernel);
  EXPECT_THAT(
      texts(differences),
      ElementsAre("searcher interface: built for API 0.7 with headers 0011223344556677, this is API 0.3 with "
                  "headers 8899aabbccddeeff",
                  "architecture: built for sparc, this is x86_64",
                  "standard library: built for libc++, this is libstdc++",
                  "compiler ABI: built for 1016, this is 1017",
                  "_GLIBCXX_USE_CXX11_ABI: built for 0, this is 1",
                  "debug mode of the standard library: built for on, this is off",
                  "sanitizers: built for address+memory, this is none",
                  "C++ standard: built for 202302, this is 202002", "Boost: built for 1.81.0, this is 1.74.1",
                  "tl::expected: built for 1.1.1, this is 1.0.0"));
  EXPECT_EQ(differences.front().rule, "P2");
  for (size_t i = 1; i < differences.size(); ++i) EXPECT_EQ(differences[i].rule, "P3");
}

TEST(PluginNote, TheHeadersDecideAndNotTheVersion) {
  PluginNote plugin = kNote;
  plugin.api_major += 1;
  EXPECT_THAT(note_differences(plugin, kNote), IsEmpty());
  plugin = kNote;
  plugin.header_hash = note_text<24>("0011223344556677");
  const std::string version = fmt::format("API {}.{} with headers ", kApiMajor, kApiMinor);
  EXPECT_THAT(texts(note_differences(plugin, kNote)),
              ElementsAre(fmt::format("searcher interface: built for {0}0011223344556677, this is {0}{1}",
                                      version, header_hash(PluginKind::Searcher))));
}

/// The messages of a kernel of this version for a plugin that needs 2.4.
std::vector<std::string> said_of_2_4(uint16_t major, uint16_t minor) {
  PluginNote kernel = kernel_note(PluginTier::Stable, PluginKind::Module);
  kernel.api_major = major;
  kernel.api_minor = minor;
  return texts(note_differences(kStableNote, kernel));
}

TEST(PluginNote, OfTheStableTierFitsTheSameMajorFromItsMinorOn) {
  EXPECT_THAT(said_of_2_4(2, 4), IsEmpty());
  EXPECT_THAT(said_of_2_4(2, 5), IsEmpty());
  EXPECT_THAT(said_of_2_4(2, 40), IsEmpty());
  EXPECT_THAT(said_of_2_4(2, 3), ElementsAre("stable module interface: needs 2.4, this is 2.3"));
  EXPECT_THAT(said_of_2_4(1, 9), ElementsAre("stable module interface: needs 2.4, this is 1.9"));
  EXPECT_THAT(said_of_2_4(3, 4), ElementsAre("stable module interface: needs 2.4, this is 3.4"));
}

TEST(PluginNote, OfTheStableTierFitsAnyCompiler) {
  PluginNote plugin = kStableNote;
  plugin.abi.compiler_abi = 1;
  plugin.header_hash = note_text<24>("0011223344556677");
  EXPECT_THAT(note_differences(plugin, kStableNote), IsEmpty());
}

TEST(PluginKinds, HaveNames) {
  for (const PluginKind kind : kPluginKinds) EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  EXPECT_EQ(kind_from_name("gadget"), std::nullopt);
}

}  // namespace
}  // namespace tunesmith
