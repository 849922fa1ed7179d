#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/records/record_store.h>

#include "unit/records/store_fixture.h"

namespace tunesmith {
namespace {
using testing::ElementsAre;

using RemoveTest = StoreFixture;

std::vector<std::string> ids_in(const RecordStore& store) {
  std::vector<std::string> ids;
  store.for_each({}, [&](const Record& record) { ids.push_back(record.id); });
  return ids;
}

TEST_F(RemoveTest, TakesAwayWhatFitsWithItsProgramsAndNothingElse) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add_run(run("other"));
  store.add(with_program(success("first", {1e-3}), 1));
  Record again = with_program(success("again", {2e-3}), 1);
  again.run = "other";
  store.add(again);
  Record alone = with_program(success("alone", {3e-3}), 2);
  alone.run = "other";
  store.add(alone);
  EXPECT_EQ(store.remove({.run = "none"}).records, 0U);
  const RemovalReport removed = store.remove({.run = "other"});
  EXPECT_EQ(removed.records, 2U);
  EXPECT_EQ(removed.programs, 1U) << "the first program has another record";
  EXPECT_THAT(ids_in(store), ElementsAre("first"));
  EXPECT_TRUE(store.check().clean());
  EXPECT_TRUE(store.add(alone)) << "it may come back, and a run that goes on finds what it refers to";
  EXPECT_THAT(ids_in(RecordStore(path("a.db"))), ElementsAre("first", "alone"));
}

TEST_F(RemoveTest, GivesTheRoomBack) {
  RecordStore store(path("a.db"));
  prepare(store);
  std::vector<Record> many;
  for (uint64_t i = 1; i <= 500; ++i) {
    many.push_back(with_program(success("r" + std::to_string(i), {1e-3}), i));
    many.back().trace += std::string(1000, '#');
  }
  store.add(many);
  const RemovalReport removed = store.remove({.workload = many.front().workload});
  EXPECT_EQ(removed.records, 500U);
  EXPECT_EQ(removed.programs, 500U);
  EXPECT_GT(removed.freed_bytes, 500'000);
  EXPECT_LT(std::filesystem::file_size(path("a.db")), 200'000U);
}

}  // namespace
}  // namespace tunesmith
