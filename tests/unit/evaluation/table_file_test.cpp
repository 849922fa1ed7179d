#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <zlib.h>

#include "table_fixture.h"

namespace tunesmith {
namespace {

using TableFile = TableTest;
using testing::HasSubstr;

Table with_rows(Table table) {
  table.rows.push_back({1, "trace one", {{1e-6, 2e-6}, {1.5e-6}}, {}, 0.5});
  table.rows.push_back({2, "trace two", {}, CandidateFailure{FailureCause::TimeOut, "too long"}, 10.0});
  return table;
}

std::string why_refused(const std::filesystem::path& file) {
  try {
    load_table(file);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string unpacked(const std::filesystem::path& file) {
  gzFile in = gzopen(file.c_str(), "rb");
  std::string text(1 << 20, '\0');
  text.resize(static_cast<size_t>(gzread(in, text.data(), 1 << 20)));
  gzclose(in);
  return text;
}

void pack(const std::string& text, const std::filesystem::path& file) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
}

TEST_F(TableFile, ComesBackAsItWas) {
  Table table = with_rows(empty_table());
  table.complete = true;
  table.rules = "rules";
  save_table(table, path("t.gz"));
  const Table back = load_table(path("t.gz"));
  EXPECT_EQ(back.workload, table.workload);
  EXPECT_EQ(back.workload_hash, table.workload_hash);
  EXPECT_EQ(workload_of(back).hash, table.workload_hash);
  EXPECT_EQ(back.threads, 2);
  EXPECT_EQ(back.device.all(), table.device.all());
  EXPECT_EQ(back.limits.vector_bits, 256);
  EXPECT_TRUE(back.limits.prepare);
  EXPECT_EQ(back.environment, table.environment);
  EXPECT_TRUE(back.complete);
  EXPECT_EQ(back.identity, table.identity);
  EXPECT_EQ(back.target, table.target);
  EXPECT_EQ(back.rules, "rules");
  ASSERT_EQ(back.rows.size(), 2U);
  EXPECT_NEAR(back.rows[0].rounds[0][1], 2e-6, 1e-15);
  EXPECT_EQ(back.rows[0].rounds.size(), 2U);
  EXPECT_EQ(back.rows[1].failure, table.rows[1].failure);
  EXPECT_EQ(back.rows[1].trace, "trace two");
}

TEST_F(TableFile, MayHoldAnyByte) {
  Table table = with_rows(empty_table());
  table.definition = "# caf\xe9\n" + table.definition;
  save_table(table, path("t.gz"));
  EXPECT_EQ(workload_of(load_table(path("t.gz"))).hash, table.workload_hash);
}

/// The space made from the read table has the same rules, and so the same programs.
TEST_F(TableFile, KeepsTheSpaceWithItsOptions) {
  const Table table = with_rows(empty_table());
  save_table(table, path("t.gz"));
  EXPECT_EQ(space(load_table(path("t.gz"))).rules(), space(table).rules());
  EXPECT_THAT(space(table).rules(), HasSubstr("structure=SRS"));
}

TEST_F(TableFile, EqualTablesAreEqualFiles) {
  save_table(with_rows(empty_table()), path("a.gz"));
  save_table(load_table(path("a.gz")), path("b.gz"));
  EXPECT_EQ(unpacked(path("a.gz")), unpacked(path("b.gz")));
}

TEST_F(TableFile, DamageIsSeen) {
  save_table(with_rows(empty_table()), path("t.gz"));
  std::string text = unpacked(path("t.gz"));
  const std::string good = text;
  text[text.find("trace one")] = 'T';
  pack(text, path("flipped.gz"));
  EXPECT_THAT(why_refused(path("flipped.gz")), HasSubstr("damaged: its checksum"));
  pack(good.substr(0, good.size() - 30), path("short.gz"));
  EXPECT_THAT(why_refused(path("short.gz")), HasSubstr("damaged"));
  std::ifstream in(path("t.gz"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(path("cut.gz"), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_THAT(why_refused(path("cut.gz")), HasSubstr("damaged"));
}

TEST_F(TableFile, OtherFilesAreRefusedByName) {
  EXPECT_THAT(why_refused(path("none.gz")), HasSubstr("none.gz: there is no such file"));
  std::ofstream(path("text")) << "hello\n";
  EXPECT_THAT(why_refused(path("text")), HasSubstr("not a recorded table"));
  std::string text = R"({"tunesmith_table":99})"
                     "\n";
  pack(text + R"({"rows":0,"sha256":")" + sha256_hex(text) + "\"}\n", path("newer.gz"));
  EXPECT_THAT(why_refused(path("newer.gz")), HasSubstr("newer Tunesmith"));
}

TEST_F(TableFile, AProgramStandsThereOnce) {
  Table table = with_rows(empty_table());
  table.rows.push_back(table.rows[0]);
  save_table(table, path("t.gz"));
  EXPECT_THAT(why_refused(path("t.gz")), HasSubstr("t.gz:4: a program for the second time"));
}

TEST_F(TableFile, NoiseIsHowFarRoundsLieApart) {
  Table table = empty_table();
  EXPECT_EQ(noise_of(table).programs, 0U);
  table.rows.push_back({1, "", {{1.0}, {1.0}}, {}, 0.0});
  table.rows.push_back({2, "", {{2.0}, {1.0}}, {}, 0.0});
  table.rows.push_back({3, "", {{1.0}, {4.0}}, {}, 0.0});
  table.rows.push_back({4, "", {{1.0}}, {}, 0.0});
  EXPECT_FALSE(rounds_apart(table.rows[3]).has_value());
  EXPECT_EQ(noise_of(table).programs, 3U);
  EXPECT_DOUBLE_EQ(noise_of(table).median, std::log(2.0));
  EXPECT_DOUBLE_EQ(seconds_of(table.rows[2]).value(), 1.0);
}

TEST_F(TableFile, TheTwoFastestRoundsSayHowFarTheyLieApart) {
  const TableRow disturbed{1, "", {{3.0}, {1.5}, {2.5}, {1.0}}, {}, 0.0};
  EXPECT_DOUBLE_EQ(rounds_apart(disturbed).value(), std::log(1.5));
}

}  // namespace
}  // namespace tunesmith
