// A new folder for each test, records to fill stores, and direct use of SQLite to damage them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <tunesmith/records/record_store.h>

#include "temporary_folder.h"

namespace tunesmith {

class Sql {
 public:
  explicit Sql(const std::filesystem::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
  }
  ~Sql() { sqlite3_close(handle_); }
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  void run(const char* sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle_, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
  }
  /// The first column of the first row.
  std::string text(const char* sql) {
    std::string result;
    const auto take = [](void* out, int, char** values, char**) {
      *static_cast<std::string*>(out) = values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle_, sql, take, &result, nullptr), SQLITE_OK);
    return result;
  }

 private:
  sqlite3* handle_ = nullptr;
};

class StoreFixture : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& file) const { return folder_ / file; }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path(file)) << text; }

  static Environment environment() {
    Environment e;
    e.architecture = "x86_64";
    e.cpu_model = "Xeon Test";
    e.cpu_flags = {"avx2", "fma"};
    e.processors = 2;
    e.plugins = {{"llvm", "0.1.0"}};
    return e;
  }

  static RecordedWorkload workload() { return {0xfeedfacecafebeefULL, "gmm:n=512", "name: gmm\n"}; }
  static RecordedSpace space() { return {"cpu", 42, "modules: []"}; }
  static RecordedRun run(const std::string& id = "run") {
    RecordedRun r;
    r.id = id;
    r.command = "tunesmith tune gmm:n=512";
    r.seed = 7;
    r.space = "cpu";
    r.rules_hash = 42;
    r.environment = environment().hash();
    r.searcher = "evolutionary";
    r.cost_model = "analytical";
    r.threads = 2;
    r.options = "trials=64";
    r.code_generator = "llvm 19";
    r.began_ms = 1'700'000'000'000;
    return r;
  }
  /// Stores everything that the records below refer to.
  static void prepare(RecordStore& store) {
    store.add_environment(environment());
    store.add_workload(workload());
    store.add_space(space());
    store.add_run(run());
  }

  static Record success(const std::string& id, std::vector<double> samples) {
    Record r = common(id);
    r.timing = make_timing(std::move(samples));
    r.seconds = r.timing->min;
    r.verified_error = 0.25;
    return r;
  }

  static Record failure(const std::string& id, FailureCause cause, const std::string& message) {
    Record r = common(id);
    r.failure = CandidateFailure{cause, message};
    return r;
  }

  static RecordedRoof roof(const std::string& id, const std::string& quantity, double per_second,
                           int64_t time_ms) {
    RecordedRoof r;
    r.id = id;
    r.environment = environment().hash();
    r.target = "llvm mcpu=native";
    r.threads = 2;
    r.quantity = quantity;
    r.per_second = per_second;
    r.time_ms = time_ms;
    return r;
  }

  static Record with_program(Record record, uint64_t lowered_hash) {
    record.lowered_hash = lowered_hash;
    return record;
  }

 private:
  static Record common(const std::string& id) {
    Record r;
    r.id = id;
    r.workload = "gmm:n=512";
    r.workload_hash = 0xfeedfacecafebeefULL;
    r.target = "llvm mcpu=native";
    r.threads = 2;
    r.run = "run";
    r.environment = environment().hash();
    r.space = "cpu";
    r.rules_hash = 42;
    r.trace = "b0 = get_block(\"C\")\nl1, l2 = get_loops(b0)\n";
    r.trace_version = 1;
    r.lowered_hash = 0x123;
    r.seed = 7;
    r.candidate = 3;
    r.time_ms = 1'700'000'000'000;
    return r;
  }

  test::TemporaryFolder folder_;
};

}  // namespace tunesmith
