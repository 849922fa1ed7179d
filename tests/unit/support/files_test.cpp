#include "tunesmith/support/files.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

size_t count_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Files, AFileIsWrittenWholeOrStaysAsItWas) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_whole_file(path, std::string_view("one\0two", 7));
  EXPECT_EQ(read_whole_file(path), std::string("one\0two", 7));
  {
    OutputFile file(path);
    file.stream() << "never finished";
  }
  EXPECT_EQ(read_whole_file(path).size(), 7U);
  OutputFile file(path);
  file.stream() << "new";
  EXPECT_EQ(read_whole_file(path).size(), 7U);
  file.commit();
  EXPECT_EQ(read_whole_file(path), "new");
  EXPECT_EQ(count_in(folder.path()), 1U);
}

TEST(Files, WhatIsReadIsNotWrittenOver) {
  const test::TemporaryFolder folder;
  write_whole_file(folder.path() / "a", "x");
  EXPECT_THROW(OutputFile(folder.path() / "a", {folder.path() / "." / "a"}), UserError);
  EXPECT_THROW(write_whole_file(folder.path() / "none" / "a", "x"), EnvironmentError);
  EXPECT_THROW(require_folder_of(folder.path() / "none" / "a"), UserError);
  EXPECT_THROW(read_whole_file(folder.path()), UserError);
  EXPECT_THROW(read_whole_file("/dev/zero", 100), UserError);
}

TEST(Files, ALinkIsWrittenThrough) {
  const test::TemporaryFolder folder;
  write_whole_file(folder.path() / "a", "x");
  fs::create_symlink("a", folder.path() / "b");
  write_whole_file(folder.path() / "b", "y");
  EXPECT_EQ(read_whole_file(folder.path() / "a"), "y");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "b"));
}

TEST(Files, AScratchFolderIsGoneAtTheEnd) {
  const test::TemporaryFolder folder;
  fs::path path;
  {
    const ScratchFolder scratch = ScratchFolder::temporary(folder.path());
    path = scratch.path();
    write_whole_file(path / "a", "x");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(count_in(folder.path()), 0U);
  EXPECT_THROW(ScratchFolder::temporary(folder.path() / "none"), EnvironmentError);
}

}  // namespace
}  // namespace tunesmith
