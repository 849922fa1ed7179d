// Gives ten thousand damaged files to the note reader, and to the loader as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/random.h>

#include "extended.h"
#include "pack_folder.h"
#include "plugin/elf_file.h"
#include "plugin/elf_note.h"

namespace tunesmith::test {
namespace {

std::string good_content() {
  return read_file(std::filesystem::path(TEST_LIBRARIES) / "test_plugin_none.so");
}

bool fits(const PluginNote& note) {
  return note_differences(note,
                          kernel_note(static_cast<PluginTier>(note.tier), static_cast<PluginKind>(note.kind)))
      .empty();
}

/// Changes some bytes, mostly of the headers and the note, or cuts the file.
std::string mutate(std::string content, RandomStream& random) {
  const size_t note = content.find(PluginNote::kMagic);
  const uint64_t changes = 1 + random.below(8);
  for (uint64_t i = 0; i < changes; ++i) {
    size_t place = random.below(content.size());
    if (const uint64_t where = random.below(4); where < 2) {
      place = random.below(64 + 12 * 56);  // the ELF header and the first program headers
    } else if (where == 2) {
      place = note - 24 + random.below(sizeof(ElfPluginNote));
    }
    constexpr std::array<char, 6> kEdges = {0, 1, 0x7f, -128, -1, 8};
    content[place] =
        random.below(2) == 0 ? kEdges[random.below(kEdges.size())] : static_cast<char>(random.next());
  }
  if (random.below(8) == 0) content.resize(random.below(content.size()));
  content.shrink_to_fit();  // so that a sanitizer sees the end
  return content;
}

TEST(NoteMutation, TheReaderRefusesOrReadsEveryDamagedFile) {
  const std::string good = good_content();
  const auto original = read_plugin_note(good);
  ASSERT_TRUE(original) << original.error();
  size_t refused = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    RandomStream random(7, i);
    const std::string damaged = mutate(good, random);
    const auto note = read_plugin_note(damaged);
    if (!note) {
      ++refused;
      ASSERT_FALSE(note.error().empty());
      continue;
    }
    ASSERT_LE(note_view(note->id).size(), 63U) << i;
    ASSERT_LE(note_view(note->version).size(), 31U) << i;
    ASSERT_TRUE(note->kind >= 1 && note->kind <= kPluginKinds.size()) << i;
  }
  EXPECT_GT(refused, 3'000U);
  EXPECT_LT(refused, 10'000U);
}

TEST(NoteMutation, EveryLengthOfFileIsSafe) {
  const std::string good = good_content();
  for (size_t size = 0; size < std::min<size_t>(good.size(), 4096); ++size) {
    const std::vector<char> start(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_plugin_note(start)) << size;
  }
}

/// The dynamic section lists the needed libraries.
TEST(NoteMutation, TheReaderOfDependenciesRefusesOrReadsEveryDamagedFile) {
  const std::string good = good_content();
  const auto file = parse_elf_file(good);
  ASSERT_TRUE(file) << file.error();
  const auto dynamic = std::ranges::find(file->segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  ASSERT_NE(dynamic, file->segments.end());
  const auto original = read_dependencies(*file);
  ASSERT_TRUE(original) << original.error();
  EXPECT_THAT(original->libraries, testing::Contains(testing::StartsWith("libtunesmith.so")));
  EXPECT_THAT(original->search_path, testing::Contains(testing::StartsWith("$ORIGIN")));

  size_t refused = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    RandomStream random(10, i);
    std::string damaged = mutate(good, random);
    for (int change = 0; change < 4 && damaged.size() == good.size(); ++change) {
      damaged[dynamic->p_offset + random.below(dynamic->p_filesz)] = static_cast<char>(random.next());
    }
    const auto elf = parse_elf_file(damaged);
    if (!elf) continue;
    const auto dependencies = read_dependencies(*elf);
    if (dependencies) continue;
    ++refused;
    ASSERT_THAT(dependencies.error(), testing::StartsWith("damaged: "));
  }
  EXPECT_GT(refused, 500U);
}

/// The manifest has the damaged file's hash, so only the file itself gives a reason to refuse it. Files that
/// pass the checks are loaded in a child process, which may refuse them or crash. Since children take most of
/// the time, after some of them only the checks continue.
TEST(NoteMutation, TheLoaderRefusesOrLoadsEveryDamagedFile) {
  const std::string good = good_content();
  PackFolder pack;
  pack.add("test_neighbour", "neighbour");
  const PackFolder::Entries neighbour = pack.entries();
  const size_t loaded = test::usual_or_extended(100, 1'000);
  size_t refused = 0;
  size_t passed_on = 0;
  for (uint64_t i = 0; i < 10 * loaded; ++i) {
    RandomStream random(9, i);
    const std::string damaged = mutate(good, random);
    write_file(pack.path() / "subject.so", damaged);
    pack.add_file("subject.so");
    pack.write_manifest();
    pack.restore(neighbour);
    const auto note = read_plugin_note(damaged);
    if (note && fits(*note) && note_view(note->id) == "subject") {
      if (++passed_on > loaded) continue;
      const std::string said =
          PluginRegistry(pack.search()).probe(PluginKind::Extension, "subject");  // must return
      ASSERT_TRUE(said.empty() || testing::Value(said, testing::ContainsRegex("extension 'subject': .*\\[P")))
          << said;
      continue;
    }
    ++refused;
    ASSERT_THAT(pack.creation(), testing::ContainsRegex("is refused: \\[P[1-4]\\] ")) << i;
  }
  EXPECT_GT(refused, 3 * loaded);
  EXPECT_GT(passed_on, loaded);
  EXPECT_EQ(pack.creation("neighbour"), "accepted");
}

TEST(NoteMutation, TheRegistryRefusesEveryDamagedFile) {
  PackFolder pack;
  pack.add("test_plugin_none");
  pack.write_manifest();
  const std::string good = good_content();
  size_t damaged_files = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    RandomStream random(8, i);
    const std::string damaged = mutate(good, random);
    if (damaged == good) continue;
    ++damaged_files;
    write_file(pack.path() / "test_plugin_none.so", damaged);
    ASSERT_THAT(pack.creation(), testing::HasSubstr("is refused: [P9]"));
  }
  EXPECT_GT(damaged_files, 150U);
  write_file(pack.path() / "test_plugin_none.so", good);
  EXPECT_EQ(pack.creation(), "accepted");
}

}  // namespace
}  // namespace tunesmith::test
