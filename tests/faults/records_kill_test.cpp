// After kill -9 at any moment, the store is sound and contains everything that was reported.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/random.h>

#include "child.h"
#include "extended.h"
#include "temporary_folder.h"

namespace tunesmith {
namespace {

using test::Child;
using test::report_id;

namespace fs = std::filesystem;

Environment test_environment() {
  Environment e;
  e.cpu_model = "Xeon Test";
  return e;
}

/// Stores everything that the records of a run refer to.
void begin_run(RecordStore& store, const std::string& run) {
  store.add_environment(test_environment());
  store.add_workload({1, "gmm:n=512", "name: gmm\n"});
  store.add_space({"cpu", 0, "modules: []"});
  RecordedRun begun;
  begun.id = run;
  begun.space = "cpu";
  begun.environment = test_environment().hash();
  begun.began_ms = 1;
  store.add_run(begun);
}

/// `id` is "RUN-NUMBER".
Record record_of(const std::string& id) {
  Record r;
  r.id = id;
  r.run = id.substr(0, id.find('-'));
  r.workload_hash = 1;
  r.threads = 1;
  r.lowered_hash = hash_bytes(id);
  r.workload = "gmm:n=512";
  r.target = "llvm";
  r.environment = test_environment().hash();
  r.space = "cpu";
  r.trace = std::string(20'000, 'x') + id;  // large, so that the log is sometimes merged into the database
  r.trace_version = 1;
  r.timing = make_timing({1e-3, 2e-3, 3e-3});
  r.seconds = r.timing->min;
  r.verified_error = 0.5;
  return r;
}

/// Adds records one by one or in batches and reports each id after its commit.
int write_records(const fs::path& path, const std::string& run, size_t limit, size_t batch_size, int report) {
  RecordStore store(path);
  begin_run(store, run);
  for (size_t i = 0; i < limit;) {
    std::vector<Record> batch;
    batch.reserve(batch_size);
    for (size_t j = 0; j < batch_size; ++j) batch.push_back(record_of(fmt::format("{}-{}", run, i++)));
    store.add(batch);
    for (const Record& record : batch) report_id(report, record.id);
  }
  return 0;
}

class RecordsKillTest : public testing::Test {
 protected:
  static void sleep_ms(uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  void expect_sound(const fs::path& path, const std::set<std::string>& reported) const {
    RecordStore store(path);
    const CheckReport check = store.check();
    EXPECT_TRUE(check.clean()) << check.faults.at(0);
    EXPECT_GE(check.records, reported.size());
    for (const std::string& id : reported) {
      const std::optional<Record> record = store.find(id);
      ASSERT_TRUE(record.has_value()) << id << " was reported and is lost";
      EXPECT_EQ(*record, record_of(id));
    }
  }

  test::TemporaryFolder folder_;
};

constexpr size_t kForEver = 1'000'000;

TEST_F(RecordsKillTest, NothingReportedIsLostInKills) {
  const fs::path path = folder_ / "records.db";
  RandomStream random(20, 1);
  std::set<std::string> reported;
  for (int round = 0; round < test::usual_or_extended(6, 20); ++round) {
    Child writer([&](int report) {
      return write_records(path, fmt::format("run{}", round), kForEver, round % 3 == 2 ? 8 : 1, report);
    });
    if (round % 2 == 1) writer.wait_for_report();
    sleep_ms(1 + random.below(150));
    writer.end(SIGKILL);
    for (const std::string& id : writer.reported()) reported.insert(id);
    expect_sound(path, reported);
  }
  EXPECT_GE(reported.size(), 3u) << "every second round waits for a report";
}

TEST_F(RecordsKillTest, AKillWhileTheStoreIsMadeLeavesAStore) {
  RandomStream random(20, 2);
  for (int round = 0; round < test::usual_or_extended(6, 20); ++round) {
    const fs::path path = folder_ / fmt::format("{}.db", round);
    Child writer([&](int report) { return write_records(path, "run", kForEver, 1, report); });
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(15'000)));
    writer.end(SIGKILL);
    const std::vector<std::string> ids = writer.reported();
    expect_sound(path, {ids.begin(), ids.end()});
  }
}

TEST_F(RecordsKillTest, AWriterGoesOnWhenTheOtherIsKilled) {
  const fs::path path = folder_ / "records.db";
  std::set<std::string> reported;
  Child victim([&](int report) { return write_records(path, "victim", kForEver, 4, report); });
  Child survivor([&](int report) { return write_records(path, "survivor", 60, 1, report); });
  sleep_ms(100);
  victim.end(SIGKILL);
  const int status = survivor.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(survivor.reported().size(), 60u);
  for (const std::string& id : victim.reported()) reported.insert(id);
  for (const std::string& id : survivor.reported()) reported.insert(id);
  expect_sound(path, reported);
}

TEST_F(RecordsKillTest, SeveralProcessesMakeAndFillOneStoreAtOnce) {
  const fs::path path = folder_ / "records.db";
  std::vector<std::unique_ptr<Child>> writers;
  writers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    writers.push_back(std::make_unique<Child>(
        [&, i](int report) { return write_records(path, fmt::format("writer{}", i), 20, 1, report); }));
  }
  std::set<std::string> reported;
  for (const auto& writer : writers) {
    const int status = writer->wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    for (const std::string& id : writer->reported()) reported.insert(id);
  }
  EXPECT_EQ(reported.size(), 80u);
  expect_sound(path, reported);
}

TEST_F(RecordsKillTest, TwoWritersKilledAtOnceLoseNothing) {
  const fs::path path = folder_ / "records.db";
  RandomStream random(20, 3);
  std::set<std::string> reported;
  for (int round = 0; round < test::usual_or_extended(6, 20); ++round) {
    std::vector<std::unique_ptr<Child>> writers;
    for (const char* name : {"a", "b"}) {
      writers.push_back(std::make_unique<Child>([&, name](int report) {
        return write_records(path, fmt::format("{}{}", name, round), kForEver, round % 2 == 0 ? 1 : 8,
                             report);
      }));
    }
    if (round % 2 == 1) writers.front()->wait_for_report();
    sleep_ms(1 + random.below(150));
    for (const auto& writer : writers) writer->end(SIGKILL);
    for (const auto& writer : writers) {
      for (const std::string& id : writer->reported()) reported.insert(id);
    }
    expect_sound(path, reported);
  }
  EXPECT_GE(reported.size(), 3u) << "every second round waits for a report";
}

constexpr int kRecords = 12;
constexpr int kCopies = 40;
// Gives copies of records other ids; their checksums then no longer match.
constexpr const char* kRepeat =
    "INSERT INTO measurement SELECT NULL, id || '-{}', program, run, kind, ranking, candidate, status, "
    "cause, message, seconds, seconds_min, seconds_median, samples, sample_count, seconds_prepare, "
    "disturbed, verified_error, time_ms, checksum, round, score, verified_on, verifier FROM measurement "
    "WHERE seq <= 12";

/// Enlarges a store of schema 7 that Tunesmith wrote.
void write_old_store(const fs::path& path) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const auto run = [&](const std::string& sql) {
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  };
  std::ifstream in(TUNESMITH_SOURCE_DIR "/tests/unit/records/fixtures/schema7.sql");
  run({std::istreambuf_iterator<char>(in), {}});
  for (int i = 1; i < kCopies; ++i) run(fmt::format(kRepeat, i));
  run("PRAGMA journal_mode = WAL");
  sqlite3_close(database);
}

TEST_F(RecordsKillTest, AKillDuringTheMigrationLosesNothing) {
  const fs::path original = folder_ / "original.db";
  write_old_store(original);
  if (HasFatalFailure()) return;
  RandomStream random(20, 4);
  int killed_before = 0;
  for (int round = 0; round < test::usual_or_extended(6, 20); ++round) {
    const fs::path path = folder_ / fmt::format("{}.db", round);
    fs::copy_file(original, path);
    std::vector<std::unique_ptr<Child>> openers;
    for (int i = 0; i < 2; ++i) {
      openers.push_back(std::make_unique<Child>([&](int) {
        RecordStore store(path);
        return 0;
      }));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(60'000)));
    for (const auto& opener : openers) opener->end(SIGKILL);
    const RecordStore store(path);
    if (store.migration()) ++killed_before;
    const CheckReport check = store.check();
    EXPECT_EQ(check.records, size_t{kRecords} * kCopies);
    EXPECT_EQ(check.faults.size(), size_t{kRecords} * (kCopies - 1));
    // Every copy with a final name is complete.
    size_t copies = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(path.filename().string() + ".schema7.bak") || name.ends_with(".unfinished"))
        continue;
      sqlite3* copy = nullptr;
      ASSERT_EQ(sqlite3_open(entry.path().c_str(), &copy), SQLITE_OK);
      int rows = 0;
      const auto take = [](void* out, int, char** values, char**) {
        *static_cast<int*>(out) = std::stoi(values[0]);
        return 0;
      };
      EXPECT_EQ(sqlite3_exec(copy, "SELECT count(*) FROM record", take, &rows, nullptr), SQLITE_OK) << name;
      sqlite3_close(copy);
      EXPECT_EQ(rows, kRecords * kCopies) << name;
      ++copies;
    }
    EXPECT_GE(copies, 1u);
  }
  EXPECT_GE(killed_before, 1) << "the kills came too late to test anything";
}

// A limit on the size of files simulates a full disk: writing fails half-way, too.
TEST_F(RecordsKillTest, ADiskWithoutSpaceIsAnEnvironmentErrorAndLosesNothing) {
  const fs::path path = folder_ / "records.db";
  Child writer([&](int report) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      return write_records(path, "run", 1000, 1, report);
    } catch (const EnvironmentError&) {
      return 7;
    }
  });
  const int status = writer.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  const std::vector<std::string> ids = writer.reported();
  EXPECT_GE(ids.size(), 2u);
  expect_sound(path, {ids.begin(), ids.end()});
}

}  // namespace
}  // namespace tunesmith
