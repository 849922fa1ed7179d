#include <algorithm>
#include <sstream>
#include <streambuf>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tunesmith/records/record_json.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>

#include "unit/records/store_fixture.h"

namespace tunesmith {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExchangeTest : public StoreFixture {
 protected:
  ExchangeTest() : source_(path("source.db")) {
    prepare(source_);
    source_.add(success("a", {1e-3, 1.0 / 3.0}));
    source_.add(failure("b", FailureCause::Crash, "signal 11"));
    source_.add(success("c", {3e-3}));
  }

  std::vector<std::string> exported_lines(const RecordFilter& filter = {}) const {
    std::stringstream out;
    EXPECT_THAT(source_.export_jsonl(out, filter), IsEmpty());
    std::vector<std::string> lines;
    for (std::string line; std::getline(out, line);) lines.push_back(line);
    return lines;
  }
  static ImportReport import_lines(RecordStore& store, const std::vector<std::string>& lines) {
    std::stringstream in;
    for (const std::string& line : lines) in << line << '\n';
    return store.import_jsonl(in, "in.jsonl");
  }

  RecordStore source_;
};

TEST_F(ExchangeTest, WhatIsExportedIsImportedUnchanged) {
  RecordStore copy(path("copy.db"));
  const ImportReport report = import_lines(copy, exported_lines());
  EXPECT_EQ(report.added, 3u);
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(copy.list(), source_.list());
  EXPECT_EQ(copy.environments(), source_.environments());
  EXPECT_TRUE(copy.check().clean());
}

TEST_F(ExchangeTest, TimesWithValuesOfExtentsTravel) {
  Record record = success("d", {1e-3});
  record.timing->at = {{{512, 3}, 2e-3}, {{1, 3}, 1.0 / 3.0}};
  source_.add(record);
  EXPECT_EQ(source_.find("d"), record);
  EXPECT_TRUE(source_.check().clean());
  RecordStore copy(path("copy.db"));
  EXPECT_EQ(import_lines(copy, exported_lines()).added, 4u);
  EXPECT_EQ(copy.find("d"), record);
  for (const char* const wrong :
       {"[]", "[{}]", R"([{"values":[-1],"seconds":1}])", R"([{"values":[1],"seconds":0}])"})
    EXPECT_THROW(parse_times_at(wrong), UserError) << wrong;
}

/// Input that comes only after another process has written to the store.
class LateInput final : public std::streambuf {
 public:
  LateInput(std::string text, const std::filesystem::path& store) : text_(std::move(text)), store_(store) {}

 protected:
  int_type underflow() override {
    RecordStore other(store_);
    other.add_workload({begin_, "other", "name: other\n"});  // waits for 30 s, then throws
    if (begin_ == text_.size()) return traits_type::eof();
    setg(&text_[begin_], &text_[begin_], &text_[begin_] + 1);
    return traits_type::to_int_type(text_[begin_++]);
  }

 private:
  std::string text_;
  std::filesystem::path store_;
  size_t begin_ = 0;
};

TEST_F(ExchangeTest, AnImportThatWaitsForInputKeepsNobodyWaiting) {
  std::string text;
  for (const std::string& line : exported_lines()) text += line + "\n";
  RecordStore copy(path("copy.db"));
  LateInput late(text, path("copy.db"));
  std::istream in(&late);
  EXPECT_EQ(copy.import_jsonl(in, "late.jsonl").added, 3u);
  EXPECT_EQ(copy.list(), source_.list());
}

TEST_F(ExchangeTest, ImportingAgainAddsNothing) {
  const ImportReport report = import_lines(source_, exported_lines());
  EXPECT_EQ(report.added, 0u);
  EXPECT_EQ(report.known, 3u);
}

TEST_F(ExchangeTest, AFilterExportsItsRecordsWithAllThatTheyReferTo) {
  EXPECT_EQ(exported_lines({.ok = false}).size(), 5u) << "environment, workload, space, run and the record";
  EXPECT_THAT(exported_lines({.target = "cuda"}), IsEmpty());
}

TEST_F(ExchangeTest, LinesMayComeInAnyOrder) {
  std::vector<std::string> lines = exported_lines();
  std::reverse(lines.begin(), lines.end());
  RecordStore copy(path("copy.db"));
  EXPECT_EQ(import_lines(copy, lines).added, 3u);
  EXPECT_TRUE(copy.check().clean());
}

TEST_F(ExchangeTest, ADamagedLineIsRefusedByNumberAndTheRestImported) {
  const std::vector<std::string> good = exported_lines();
  ASSERT_EQ(good.size(), 7u);
  RecordStore copy(path("copy.db"));
  for (size_t i = 0; i < good[2].size(); ++i) {
    std::vector<std::string> lines = good;
    lines[5][i] = lines[5][i] == '1' ? '2' : '1';
    const ImportReport report = import_lines(copy, lines);
    ASSERT_EQ(report.refused.size(), 1u) << lines[5];
    EXPECT_THAT(report.refused[0], HasSubstr("in.jsonl:6: "));
    EXPECT_EQ(report.added + report.known, 2u);
  }
  EXPECT_EQ(copy.find("b"), std::nullopt);
}

TEST_F(ExchangeTest, ATruncatedFileGivesWhatIsWhole) {
  std::vector<std::string> lines = exported_lines();
  lines.back().resize(lines.back().size() / 2);
  RecordStore copy(path("copy.db"));
  const ImportReport report = import_lines(copy, lines);
  EXPECT_EQ(report.added, 2u);
  EXPECT_THAT(report.refused, ElementsAre(HasSubstr("in.jsonl:7: damaged")));
}

TEST_F(ExchangeTest, RecordsWithoutTheirEnvironmentAreRefused) {
  std::vector<std::string> lines = exported_lines();
  lines.erase(lines.begin());
  RecordStore copy(path("copy.db"));
  const ImportReport report = import_lines(copy, lines);
  EXPECT_EQ(report.added, 0u);
  ASSERT_EQ(report.refused.size(), 4u);
  EXPECT_THAT(report.refused[0], HasSubstr("in.jsonl:3: its space or its environment"));
  EXPECT_THAT(report.refused[1], HasSubstr("in.jsonl:4: its environment"));
}

TEST_F(ExchangeTest, SomeRecordsGoWithAllThatTheyName) {
  std::stringstream out;
  EXPECT_THAT(source_.export_jsonl(out, std::vector{*source_.find("c")}), IsEmpty());
  RecordStore copy(path("copy.db"));
  EXPECT_THAT(copy.import_jsonl(out, "some.jsonl").refused, IsEmpty());
  EXPECT_THAT(copy.list(), ElementsAre(*source_.find("c")));
  EXPECT_EQ(copy.environments(), source_.environments());
  EXPECT_TRUE(copy.check().clean());
}

TEST_F(ExchangeTest, OtherLinesAreRefused) {
  std::string newer = exported_lines()[0];
  newer.replace(newer.rfind("\"version\":5"), 11, "\"version\":99");
  RecordStore copy(path("copy.db"));
  const ImportReport report = import_lines(copy, {"", "{}", "[]", "null", "not json", newer});
  EXPECT_EQ(report.added, 0u);
  EXPECT_THAT(report.refused,
              ElementsAre(HasSubstr("in.jsonl:2: "), HasSubstr("in.jsonl:3: "), HasSubstr("in.jsonl:4: "),
                          HasSubstr("in.jsonl:5: "), HasSubstr("newer Tunesmith")));
}

TEST_F(ExchangeTest, OneIdWithTwoContentsIsAConflict) {
  RecordStore copy(path("copy.db"));
  prepare(copy);
  copy.add(success("a", {9e-3}));
  const ImportReport report = import_lines(copy, exported_lines());
  EXPECT_EQ(report.added, 2u);
  EXPECT_THAT(report.refused, ElementsAre(HasSubstr("in.jsonl:5: another record has its id 'a'")));
  EXPECT_EQ(copy.find("a")->timing->min, 9e-3);
}

TEST_F(ExchangeTest, MergeTakesInAnotherStore) {
  RecordStore copy(path("copy.db"));
  prepare(copy);
  copy.add(success("a", {1e-3, 1.0 / 3.0}));
  copy.add(success("d", {4e-3}));
  const ImportReport report = copy.merge(path("source.db"));
  EXPECT_EQ(report.added, 2u);
  EXPECT_EQ(report.known, 1u);
  EXPECT_EQ(copy.count(), 4u);
  EXPECT_TRUE(copy.check().clean());
  EXPECT_THROW((void)copy.merge(path("copy.db")), UserError);
  EXPECT_THROW((void)copy.merge(path("none.db")), UserError);
}

TEST_F(ExchangeTest, DamagedRowsAreNeitherExportedNorMerged) {
  Sql(path("source.db")).run("UPDATE measurement SET seconds_median = 1e-9 WHERE id = 'c'");
  std::stringstream out;
  EXPECT_THAT(source_.export_jsonl(out), ElementsAre(HasSubstr("record 'c'")));
  RecordStore copy(path("copy.db"));
  EXPECT_THAT(copy.merge(path("source.db")).refused, ElementsAre(HasSubstr("record 'c'")));
  EXPECT_EQ(copy.count(), 2u);
}

TEST_F(ExchangeTest, CheckIsCleanOnASoundStore) {
  const CheckReport report = source_.check();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.records, 3u);
  EXPECT_EQ(report.environments, 1u);
}

TEST_F(ExchangeTest, CheckFindsEverySortOfDamage) {
  Sql sql(path("source.db"));
  sql.run("PRAGMA ignore_check_constraints = ON");
  sql.run("UPDATE measurement SET time_ms = 1 WHERE id = 'a'");
  sql.run("UPDATE measurement SET cause = 'melted' WHERE id = 'b'");
  sql.run("UPDATE measurement SET samples = '[1,' WHERE id = 'c'");
  EXPECT_THAT(source_.check().faults, ElementsAre("record 'a': its checksum does not match its content",
                                                  "record 'b': unknown cause of failure 'melted'",
                                                  HasSubstr("record 'c': its samples")));
  EXPECT_THROW((void)source_.list(), EnvironmentError);

  sql.run("UPDATE measurement SET cause = 'crash' WHERE id = 'b'");
  sql.run("UPDATE measurement SET samples = '[0.003]' WHERE id = 'c'");
  sql.run("UPDATE measurement SET time_ms = 1700000000000 WHERE id = 'a'");
  EXPECT_TRUE(source_.check().clean()) << source_.check().faults.at(0);
  sql.run("UPDATE program SET trace = 'other'");
  EXPECT_EQ(source_.check().faults.size(), 3u) << "all that are of that program";
  sql.run(
      "UPDATE run SET command = 'rm -r'; UPDATE space SET rules = ''; UPDATE workload SET definition = ''");
  EXPECT_THAT(source_.check().faults, testing::IsSupersetOf({HasSubstr("run 'run'"), HasSubstr("space 'cpu'"),
                                                             HasSubstr("workload 'gmm:n=512'")}));

  sql.run("UPDATE environment SET text = replace(text, 'Xeon', 'Neox')");
  EXPECT_THAT(source_.check().faults, testing::Contains(HasSubstr("its hash does not match")));
  sql.run("DELETE FROM workload");
  EXPECT_THAT(source_.check().faults, testing::Contains(HasSubstr("refers to a missing workload")));
}

TEST_F(ExchangeTest, CheckAsksTheValidatorOfTraces) {
  const CheckReport report =
      source_.check([](const Record& record) { return record.id == "b" ? "its trace does not parse" : ""; });
  EXPECT_THAT(report.faults, ElementsAre("record 'b': its trace does not parse"));
}

TEST_F(ExchangeTest, CheckTellsOfADamagedPage) {
  for (int i = 0; i < 200; ++i) source_.add(success("job-" + std::to_string(i), {1e-3}));
  {
    const RecordStore gone = std::move(source_);
  }
  {
    std::fstream file(path("source.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path("source.db")) / 2));
    file << std::string(4096, '\x5a');
  }
  source_ = RecordStore(path("source.db"));
  EXPECT_FALSE(source_.check().clean());
}

TEST_F(ExchangeTest, OfAFileThatIsCutShortTheRestIsRescued) {
  for (int i = 0; i < 200; ++i) source_.add(success("job-" + std::to_string(i), {1e-3}));
  {
    const RecordStore gone = std::move(source_);
  }
  const std::filesystem::path file = path("source.db");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 4096);
  EXPECT_THROW(RecordStore(file, RecordStore::Mode::Read), EnvironmentError);
  std::stringstream out;
  const RecordStore cut(file, RecordStore::Mode::Rescue);
  EXPECT_THAT(cut.export_jsonl(out), testing::Contains(HasSubstr("are unreadable")));
  RecordStore rescued(path("rescued.db"));
  const ImportReport report = rescued.import_jsonl(out, "out.jsonl");
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_GT(report.added, 100U);
  EXPECT_TRUE(rescued.check().clean());
  source_ = RecordStore(path("another.db"));
}

/// A folder in which no file can be written, not even by root, during its lifetime.
class UnwritableFolder {
 public:
  explicit UnwritableFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    using std::filesystem::perms;
    const perms read = perms::owner_read | perms::group_read | perms::others_read;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) permissions(file.path(), read);
    const perms enter = perms::owner_exec | perms::group_exec | perms::others_exec;
    permissions(folder_, read | enter);
    permissions(folder_.parent_path(), read | enter | perms::owner_write);
    if (geteuid() != 0) return;
    EXPECT_EQ(seteuid(65534), 0);
  }
  ~UnwritableFolder() {
    if (getuid() == 0) {
      EXPECT_EQ(seteuid(0), 0);
    }
    permissions(folder_, std::filesystem::perms::owner_all);
  }
  UnwritableFolder(const UnwritableFolder&) = delete;
  UnwritableFolder& operator=(const UnwritableFolder&) = delete;

 private:
  const std::filesystem::path folder_;
};

TEST_F(ExchangeTest, AFolderThatCannotBeWrittenIsRead) {
  namespace fs = std::filesystem;
  for (const char* part : {"", "-wal"}) {  // as a killed process leaves them
    const std::string file = std::string("source.db") + part;
    fs::create_directories(path("read_only"));
    fs::copy_file(path(file), path("read_only") / file);
  }
  const UnwritableFolder folder(path("read_only"));
  const RecordStore store(path("read_only") / "source.db", RecordStore::Mode::Read);
  EXPECT_EQ(store.list(), source_.list());
  EXPECT_THROW(RecordStore(path("read_only") / "source.db"), EnvironmentError);
}

TEST_F(ExchangeTest, ARunMetBeforeItsEndIsGivenItsEnd) {
  RecordStore copy(path("copy.db"));
  EXPECT_EQ(import_lines(copy, exported_lines()).added, 3u);
  source_.end_run("run", 1'700'000'009'000, "interrupted");
  const ImportReport report = import_lines(copy, exported_lines());
  EXPECT_EQ(report.known, 3u);
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(copy.run("run"), source_.run("run"));
  EXPECT_TRUE(copy.check().clean());
}

TEST_F(ExchangeTest, RoundsAndScoresTravel) {
  Record scored = success("scored", {5e-3});
  scored.round = 2;
  scored.score = 1.0 / 3.0;
  scored.verified_on = "gmm:b=1,n=128,m=128,k=128";
  source_.add(scored);
  RecordStore copy(path("copy.db"));
  EXPECT_EQ(import_lines(copy, exported_lines()).added, 4u);
  EXPECT_EQ(copy.find("scored"), scored);
  RecordStore merged(path("merged.db"));
  EXPECT_EQ(merged.merge(path("source.db")).added, 4u);
  EXPECT_EQ(merged.find("scored"), scored);
}

// A line without a round, a twin and a verifier is what versions 2 to 4 wrote, checksum and all.
TEST_F(ExchangeTest, LinesOfOlderVersionsAreReadAsTheyWere) {
  for (const char* version : {"\"version\":2", "\"version\":3", "\"version\":4"}) {
    std::vector<std::string> lines = exported_lines();
    for (std::string& line : lines) line.replace(line.rfind("\"version\":5"), 11, version);
    RecordStore copy(path(std::string("copy") + version[10] + ".db"));
    EXPECT_EQ(import_lines(copy, lines).added, 3u);
    EXPECT_EQ(copy.list(), source_.list());
  }
}

TEST_F(ExchangeTest, RoofsTravelWithTheirEnvironment) {
  RecordedRoof measured = roof("roof", "copied bytes", 4e10, 1'000);
  measured.disturbed = false;
  source_.add_roof(measured);
  Environment other = environment();
  other.cpu_model = "Another";
  source_.add_environment(other);
  RecordedRoof elsewhere = roof("elsewhere", "copied bytes", 5e10, 2'000);
  elsewhere.environment = other.hash();
  source_.add_roof(elsewhere);

  RecordStore copy(path("copy.db"));
  std::vector<std::string> lines = exported_lines();
  EXPECT_EQ(lines.size(), 8u) << "no record names the other environment";
  std::reverse(lines.begin(), lines.end());
  EXPECT_THAT(import_lines(copy, lines).refused, IsEmpty());
  EXPECT_THAT(copy.roofs(), ElementsAre(measured));
  EXPECT_THAT(import_lines(copy, lines).refused, IsEmpty()) << "the same again is nothing new";
  RecordStore merged(path("merged.db"));
  EXPECT_THAT(merged.merge(path("source.db")).refused, IsEmpty());
  EXPECT_THAT(merged.roofs(), ElementsAre(measured, elsewhere));

  std::erase_if(lines, [](const std::string& line) { return line.find("\"roof\":") == std::string::npos; });
  RecordStore alone(path("alone.db"));
  EXPECT_THAT(import_lines(alone, lines).refused, ElementsAre(HasSubstr("its environment is missing")));
  std::string damaged = lines.front();
  damaged.replace(damaged.find("copied bytes"), 12, "copied lines");
  EXPECT_THAT(import_lines(copy, {damaged}).refused, ElementsAre(HasSubstr("damaged")));
}

}  // namespace
}  // namespace tunesmith
