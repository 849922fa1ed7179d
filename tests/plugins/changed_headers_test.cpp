// A searcher and a cost model that were built against other headers load if the headers that their kind
// reaches differ only in comments and white space.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/exact_note.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/cost_model.h>
#include <tunesmith/search/searcher.h>

namespace tunesmith::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ChangedHeaders : public testing::TestWithParam<PluginKind> {
 protected:
  /// "accepted", or why the plugin built against headers with this change is refused.
  static std::string said_of(const std::string& change) {
    const std::string kind(kind_name(GetParam()));
    const std::string id = "null_" + kind;
    PluginRegistry registry({.command_line = {{std::filesystem::path(TEST_LIBRARIES) /
                                               fmt::format("test_{}_{}.pack.json", kind, change)}},
                             .defaults = false});
    try {
      const Options options = Options::defaults(registry.option_specs(GetParam(), id), id);
      if (GetParam() == PluginKind::Searcher) {
        EXPECT_NE(registry.create<Searcher>(id, options), nullptr);
      } else {
        EXPECT_NE(registry.create<CostModel>(id, options), nullptr);
      }
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_P(ChangedHeaders, InCommentsRefuseNobody) { EXPECT_EQ(said_of("comments"), "accepted"); }

TEST_P(ChangedHeaders, ThatTheKindDoesNotReachRefuseNobody) { EXPECT_EQ(said_of("unreached"), "accepted"); }

TEST_P(ChangedHeaders, ThatTheKindReachesAreNamedByBothHashes) {
  EXPECT_THAT(said_of("reached"),
              AllOf(HasSubstr(fmt::format("is refused: [P2] {} interface: built for API {}.{} with headers ",
                                          kind_name(GetParam()), kApiMajor, kApiMinor)),
                    HasSubstr(fmt::format(", this is API {}.{} with headers {}; remedy: rebuild it against",
                                          kApiMajor, kApiMinor, header_hash(GetParam())))));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChangedHeaders, testing::Values(PluginKind::Searcher, PluginKind::CostModel),
                         [](const auto& kind) { return std::string(kind_name(kind.param)); });

}  // namespace
}  // namespace tunesmith::test
