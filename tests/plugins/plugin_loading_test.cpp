// Plugins that are bad on purpose: each is reported, and the healthy one beside it still works.
#include <cstdlib>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tunesmith/plugin/exact_note.h>
#include <tunesmith/support/hash.h>

#include "pack_folder.h"
#include "plugin/elf_note.h"

namespace tunesmith::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class BadPlugin : public testing::Test {
 protected:
  BadPlugin() { pack_.add("test_neighbour", "neighbour"); }

  void TearDown() override { EXPECT_EQ(pack_.creation("neighbour"), "accepted"); }

  /// The message about a built library in an otherwise correct pack.
  std::string message_about(const std::string& defect) {
    pack_.add("test_plugin_" + defect);
    return message();
  }

  /// The message about a file with this content and a correct hash in the manifest.
  std::string message_about_content(std::string_view content) {
    write_file(pack_.path() / "subject.so", content);
    pack_.add_file("subject.so");
    return message();
  }

  std::string message() {
    pack_.write_manifest();
    return pack_.creation();
  }

  static std::string good_content() { return read_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so"); }

  PackFolder pack_;
};

const std::string kRebuild =
    "remedy: rebuild it against the headers of this kernel: cmake -B build -DCMAKE_PREFIX_PATH=";

TEST_F(BadPlugin, NothingWrong) { EXPECT_EQ(message_about("none"), "accepted"); }

TEST_F(BadPlugin, StrippedIsAccepted) {
  const fs::path library = pack_.path() / "subject.so";
  fs::copy_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", library);
  const std::string command = fmt::format("{} --strip-all '{}'", STRIP_PROGRAM, library.string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  ASSERT_LT(fs::file_size(library), good_content().size());
  chmod(library.c_str(), 0755);
  pack_.add_file("subject.so");
  EXPECT_EQ(message(), "accepted");
}

TEST_F(BadPlugin, NoNote) {
  EXPECT_THAT(
      message_about("no_note"),
      AllOf(StartsWith("extension 'subject': "), HasSubstr(pack_.path().string()),
            HasSubstr("is refused: [P1] no Tunesmith note: not a Tunesmith plugin"), HasSubstr(kRebuild)));
}

TEST_F(BadPlugin, TwoNotes) {
  EXPECT_THAT(message_about("two_notes"), HasSubstr("[P1] damaged note: more than one"));
}

TEST_F(BadPlugin, DamagedNote) {
  std::string content = good_content();
  const size_t note = content.find(PluginNote::kMagic);
  ASSERT_NE(note, std::string::npos);
  content[note] = 'X';
  EXPECT_THAT(message_about_content(content), HasSubstr("[P1] damaged note: wrong magic"));
}

/// The good library with a changed note.
template <typename Change>
std::string content_with_note(std::string content, const Change& change) {
  PluginNote note;
  char* place = content.data() + content.find(PluginNote::kMagic);
  std::memcpy(&note, place, sizeof note);
  change(note);
  std::memcpy(place, &note, sizeof note);
  return content;
}

TEST_F(BadPlugin, NoteOfAnotherVersion) {
  EXPECT_THAT(message_about_content(
                  content_with_note(good_content(), [](PluginNote& note) { note.note_version = 2; })),
              HasSubstr("[P1] note version: built for 2, this is 3; remedy: rebuild it"));
}

TEST_F(BadPlugin, NoteThatIsNotAsLongAsItSays) {
  EXPECT_THAT(message_about_content(
                  content_with_note(good_content(), [](PluginNote& note) { note.note_size = 248; })),
              HasSubstr("[P1] damaged note: expected 248 bytes, found 256"));
}

TEST_F(BadPlugin, NoteThatALaterKernelMadeLongerIsRead) {
  EXPECT_EQ(message_about("longer_note"), "accepted");
}

TEST_F(BadPlugin, NoteOfATierThatNobodyKnows) {
  EXPECT_THAT(message_about("unknown_tier"), HasSubstr("[P1] damaged note: unknown plugin tier 3"));
}

std::string this_interface() {
  return fmt::format("this is API {}.{} with headers {}; ", kApiMajor, kApiMinor,
                     header_hash(PluginKind::Extension));
}

/// Its initialisers would end the process, so none of its code may run.
TEST_F(BadPlugin, BuiltAgainstOtherHeaders) {
  const std::string said = message_about("other_headers");
  EXPECT_THAT(
      said,
      AllOf(HasSubstr(fmt::format("is refused: [P2] extension interface: built for API {}.{} with headers "
                                  "0123456789abcdef, {}remedy: ",
                                  kApiMajor, kApiMinor, this_interface())),
            HasSubstr(kRebuild)));
  EXPECT_EQ(PluginRegistry(pack_.search()).probe(PluginKind::Extension, "subject"), said);
}

/// A release raises the version; the hash changes only with the headers that the kind reaches.
TEST_F(BadPlugin, OfAnOlderVersionWithTheSameHeadersIsAccepted) {
  EXPECT_EQ(message_about("older_api"), "accepted");
}

TEST_F(BadPlugin, OfANewerVersionWithTheSameHeadersIsAccepted) {
  EXPECT_EQ(
      message_about_content(content_with_note(good_content(), [](PluginNote& note) { ++note.api_major; })),
      "accepted");
}

/// Their initialisers would end the process, too.
TEST_F(BadPlugin, ThatNeedsANewerMinorVersionOfTheStableInterface) {
  EXPECT_THAT(
      message_about("stable_newer_minor"),
      AllOf(HasSubstr(fmt::format("is refused: [P2] stable extension interface: needs 1.999, this is 1.{}; ",
                                  kStableMinor)),
            HasSubstr("remedy: install a Tunesmith whose stable interface is 1.999 or newer; or rebuild")));
}

TEST_F(BadPlugin, OfAnotherMajorVersionOfTheStableInterface) {
  EXPECT_THAT(
      message_about("stable_other_major"),
      AllOf(HasSubstr(fmt::format("is refused: [P2] stable extension interface: needs 7.0, this is {}.{}; ",
                                  kStableMajor, kStableMinor)),
            HasSubstr(kRebuild)));
}

TEST_F(BadPlugin, LibrariesWhoseTypesCross) {
  EXPECT_THAT(message_about("other_libraries"),
              AllOf(HasSubstr("[P3] Boost: built for 1.66.0, this is "),
                    HasSubstr("; tl::expected: built for 0.3.1, this is "), HasSubstr(kRebuild)));
}

TEST_F(BadPlugin, OtherFingerprintListsAllDifferencesAtOnce) {
  const AbiFingerprint ours = abi_of_this_translation_unit();
  EXPECT_THAT(message_about("other_fingerprint"),
              AllOf(HasSubstr("[P2] extension interface: built for API 0.99 with headers 0123456789abcdef, "),
                    HasSubstr(this_interface()),
                    HasSubstr(fmt::format("compiler ABI: built for 1002, this is {}; ", ours.compiler_abi)),
                    HasSubstr("_GLIBCXX_USE_CXX11_ABI: built for 0, this is 1; "),
                    HasSubstr("sanitizers: built for thread, this is "),
                    HasSubstr(fmt::format("C++ standard: built for 201703, this is {}; ", ours.cxx_standard)),
                    HasSubstr(kRebuild)));
}

TEST_F(BadPlugin, DebugStandardLibrary) {
  EXPECT_THAT(message_about("debug_library"),
              HasSubstr("[P3] debug mode of the standard library: built for on, this is off; "));
}

TEST_F(BadPlugin, OtherKindThanTheManifestSays) {
  EXPECT_THAT(message_about("other_kind"),
              AllOf(HasSubstr("[P4] "), HasSubstr("lists extension 'subject', but it contains searcher "
                                                  "'subject'")));
}

TEST_F(BadPlugin, OtherIdThanTheManifestSays) {
  pack_.add("test_plugin_none", "alias");
  pack_.write_manifest();
  EXPECT_THAT(pack_.creation("alias"),
              HasSubstr("lists extension 'alias', but it contains extension 'subject'"));
}

TEST_F(BadPlugin, DescriptorOfSomebodyElse) {
  EXPECT_THAT(message_about("other_descriptor"), HasSubstr("[P5] its descriptor contradicts its note"));
}

TEST_F(BadPlugin, MissingSymbol) {
  EXPECT_THAT(message_about("no_descriptor"),
              HasSubstr("[P5] it exports no symbol tunesmith_plugin_descriptor; "));
}

TEST_F(BadPlugin, UndefinedSymbol) {
  EXPECT_THAT(message_about("undefined_symbol"),
              AllOf(HasSubstr("[P11] it cannot be loaded: "), HasSubstr("undefined symbol"),
                    HasSubstr("tunesmith_test_function_of_nobody")));
}

TEST_F(BadPlugin, DependencyMissing) {
  EXPECT_THAT(message_about("missing_dependency"),
              AllOf(HasSubstr("[P11] it cannot be loaded: "), HasSubstr("libtunesmith_test_missing.so")));
}

TEST_F(BadPlugin, Empty) { EXPECT_THAT(message_about_content(""), HasSubstr("[P1] the file is empty")); }

TEST_F(BadPlugin, NotElf) {
  EXPECT_THAT(message_about_content("#!/bin/sh\nexit 0\n"), HasSubstr("[P1] not an ELF file"));
}

TEST_F(BadPlugin, Truncated) {
  const std::string content = good_content();
  EXPECT_THAT(message_about_content(content.substr(0, 40)),
              HasSubstr("[P1] truncated: shorter than an ELF header"));
}

TEST_F(BadPlugin, TruncatedInTheMiddle) {
  const std::string content = good_content();
  EXPECT_THAT(message_about_content(content.substr(0, content.size() / 3)),
              AllOf(HasSubstr("[P1] truncated: a segment of "), HasSubstr("lies outside the file of ")));
}

TEST_F(BadPlugin, OtherArchitecture) {
  std::string content = good_content();
  const uint16_t riscv = EM_RISCV;
  std::memcpy(content.data() + offsetof(Elf64_Ehdr, e_machine), &riscv, sizeof riscv);
  EXPECT_THAT(message_about_content(content), HasSubstr("[P1] architecture: built for riscv, this is "));
}

TEST_F(BadPlugin, OtherElfClass) {
  std::string content = good_content();
  content[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(message_about_content(content), HasSubstr("[P1] wrong ELF class: this needs a 64-bit library"));
}

TEST_F(BadPlugin, WrongHash) {
  const fs::path library = pack_.add("test_plugin_none");
  pack_.write_manifest();
  write_file(library, good_content() + "x");
  EXPECT_THAT(pack_.creation(), AllOf(HasSubstr("[P9] its SHA-256 is " + sha256_hex(good_content() + "x")),
                                      HasSubstr("test.pack.json has " + sha256_hex(good_content())),
                                      HasSubstr("remedy: reinstall the pack")));
}

TEST_F(BadPlugin, WritableByEverybody) {
  const fs::path library = pack_.add("test_plugin_none");
  chmod(library.c_str(), 0777);
  EXPECT_THAT(message(), AllOf(HasSubstr("[P8] "), HasSubstr("is writable by everybody (mode 777)"),
                               HasSubstr("chmod go-w " + library.string())));
}

TEST_F(BadPlugin, WritableByItsGroup) {
  const fs::path library = pack_.add("test_plugin_none");
  chmod(library.c_str(), 0775);
  EXPECT_THAT(message(), HasSubstr("is writable by its group (mode 775)"));
}

TEST_F(BadPlugin, OfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const fs::path library = pack_.add("test_plugin_none");
  ASSERT_EQ(chown(library.c_str(), 65534, 65534), 0);
  EXPECT_THAT(message(),
              AllOf(HasSubstr("[P8] "), HasSubstr("is owned by user 65534, neither root nor you")));
}

TEST_F(BadPlugin, InAFolderWritableByEverybody) {
  fs::create_directory(pack_.path() / "open");
  fs::copy_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", pack_.path() / "open" / "subject.so");
  chmod((pack_.path() / "open").c_str(), 0777);
  pack_.add_file("open/subject.so");
  EXPECT_THAT(message(),
              AllOf(HasSubstr("[P8] "), HasSubstr("is in a folder that is writable by everybody")));
}

/// Whoever may write to a folder above a pack can put another pack in its place.
class FolderAboveAPack : public testing::Test {
 protected:
  FolderAboveAPack() {
    pack_.add("test_plugin_none");
    pack_.write_manifest();
    const fs::path inner = above() / "middle" / "pack";
    fs::create_directories(inner);
    for (const char* file : {"test_plugin_none.so", "test.pack.json"})
      fs::rename(pack_.path() / file, inner / file);
  }
  fs::path above() const { return pack_.path() / "above"; }
  std::string message() const {
    const PluginSearch search{.command_line = {{above() / "middle" / "pack"}}, .defaults = false};
    PluginRegistry registry(search);
    return creation(registry, "subject");
  }

 private:
  PackFolder pack_;
};

TEST_F(FolderAboveAPack, OfThisUserIsAccepted) { EXPECT_EQ(message(), "accepted"); }

TEST_F(FolderAboveAPack, WritableByEverybodyIsRefused) {
  chmod(above().c_str(), 0777);
  EXPECT_THAT(message(), AllOf(HasSubstr("[P8] "), HasSubstr("is in a folder that is writable by everybody"),
                               HasSubstr("chmod o-w " + above().string())));
}

TEST_F(FolderAboveAPack, StickyIsAccepted) {
  chmod(above().c_str(), 01777);
  EXPECT_EQ(message(), "accepted");
}

TEST_F(FolderAboveAPack, WritableByItsGroupIsAccepted) {
  chmod(above().c_str(), 0775);
  EXPECT_EQ(message(), "accepted");
}

TEST_F(FolderAboveAPack, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(above().c_str(), 65534, 65534), 0);
  EXPECT_THAT(message(), HasSubstr("is in a folder that is owned by user 65534, neither root nor you"));
}

TEST_F(BadPlugin, LinkOutOfThePack) {
  fs::create_symlink(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", pack_.path() / "subject.so");
  pack_.add_file("subject.so");
  EXPECT_THAT(message(), AllOf(HasSubstr("[P10] it links to "), HasSubstr("outside its pack's folder")));
}

TEST_F(BadPlugin, LinkInsideThePackIsAccepted) {
  pack_.add("test_plugin_none", "other_name");
  fs::create_symlink("test_plugin_none.so", pack_.path() / "subject.so");
  pack_.add_file("subject.so");
  EXPECT_EQ(message(), "accepted");
}

TEST_F(BadPlugin, PathOutOfThePack) {
  pack_.add_file("../subject.so");
  write_file(pack_.path().parent_path() / (pack_.path().filename().string() + ".so"), "");
  const std::string outside = "../" + pack_.path().filename().string() + ".so";
  pack_.add_file(outside, "outside");
  pack_.write_manifest();
  EXPECT_THAT(pack_.creation("outside"), HasSubstr("[P10] it links to "));
  fs::remove(pack_.path().parent_path() / (pack_.path().filename().string() + ".so"));
}

TEST_F(BadPlugin, MissingLibrary) {
  pack_.add_file("nowhere.so");
  EXPECT_THAT(message(), AllOf(HasSubstr("nowhere.so is refused: [P6] listed in the manifest but missing")));
}

TEST_F(BadPlugin, FolderInsteadOfALibrary) {
  fs::create_directory(pack_.path() / "subject.so");
  pack_.add_file("subject.so");
  EXPECT_THAT(message(), HasSubstr("[P8]"));
}

TEST_F(BadPlugin, DuplicateIdNamesBoth) {
  pack_.add("test_plugin_none");
  pack_.write_manifest();
  pack_.write_manifest("again.pack.json");
  EXPECT_THAT(pack_.creation(), AllOf(HasSubstr("[P7] it exists twice: "), HasSubstr("again.pack.json"),
                                      HasSubstr("test.pack.json"), HasSubstr("remedy: remove one")));
  fs::remove(pack_.path() / "again.pack.json");
}

TEST_F(BadPlugin, RequiresAPluginThatIsNotThere) {
  fs::copy_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", pack_.path() / "subject.so");
  pack_.add_file("subject.so", "subject", "extension:moon_unit");
  EXPECT_THAT(message(), AllOf(HasSubstr("[P14] it requires extension:moon_unit, which is not installed"),
                               HasSubstr(pack_.path().string())));
}

TEST_F(BadPlugin, RequiresAPluginThatIsThere) {
  fs::copy_file(fs::path(TEST_LIBRARIES) / "test_plugin_none.so", pack_.path() / "subject.so");
  pack_.add_file("subject.so", "subject", "extension:neighbour");
  EXPECT_EQ(message(), "accepted");
}

TEST_F(BadPlugin, OptionDeclaredTwice) {
  EXPECT_THAT(message_about("option_twice"), HasSubstr("[P13] option 'loud' is declared twice"));
}

TEST_F(BadPlugin, OptionWithoutHelp) {
  EXPECT_THAT(message_about("no_help"), HasSubstr("[P13] option 'loud' has no line of help"));
}

TEST_F(BadPlugin, OptionWithAnImpossibleDefault) {
  EXPECT_THAT(message_about("bad_default"), HasSubstr("[P13] the default of option 'level' is 9"));
}

TEST_F(BadPlugin, ThrowsInOptions) {
  EXPECT_EQ(message_about("throws_in_options"), "extension 'subject': [P12] options threw: boom in options");
}

TEST_F(BadPlugin, ThrowsInCreate) {
  EXPECT_EQ(message_about("throws_in_create"), "extension 'subject': [P12] create threw: boom in create");
}

TEST_F(BadPlugin, ThrowsNoExceptionInCreate) {
  EXPECT_EQ(message_about("throws_int_in_create"),
            "extension 'subject': [P12] create threw something that is no exception");
}

TEST_F(BadPlugin, RefusingItsOptionsIsTheUsersError) {
  EXPECT_EQ(message_about("refuses_options"), "option 'scale' of extension 'subject': is not to my taste");
}

TEST_F(BadPlugin, ThrowsWhileLoadingEndsTheProcessWithItsName) {
  pack_.add("test_plugin_throws_while_loading");
  pack_.write_manifest();
  PluginRegistry registry(pack_.search());
  EXPECT_EXIT(registry.option_specs(PluginKind::Extension, "subject"), testing::ExitedWithCode(4),
              "extension 'subject': .* is refused: \\[P12\\] its initialisers threw: boom while loading");
  EXPECT_THAT(registry.probe(PluginKind::Extension, "subject"),
              HasSubstr("initialisers threw: boom while loading"));
  EXPECT_EQ(creation(registry, "neighbour"), "accepted");
}

TEST_F(BadPlugin, CrashesWhileLoading) {
  pack_.add("test_plugin_crashes_while_loading");
  pack_.write_manifest();
  const PluginRegistry registry(pack_.search());
  EXPECT_THAT(registry.probe(PluginKind::Extension, "subject"),
              HasSubstr("[P12] loading it crashed: Aborted"));
  EXPECT_EQ(registry.probe(PluginKind::Extension, "neighbour"), "");
}

}  // namespace
}  // namespace tunesmith::test
