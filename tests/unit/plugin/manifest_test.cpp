#include "plugin/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>

namespace tunesmith {
namespace {

using testing::HasSubstr;

const std::string kHash(64, 'a');

std::string manifest(const std::string& plugin, const std::string& head = {}) {
  return R"({"manifest_version": 1, "id": "acme", "version": "1.0.0", "vendor": "Acme", "licence": "MIT", )" +
         head + R"("plugins": [)" + plugin + "]}";
}

std::string error_of(const std::string& text) {
  try {
    parse_manifest(text, "acme.pack.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Manifest, ReadsAllFields) {
  const Manifest read = parse_manifest(
      manifest(R"({"id": "acme_tile", "kind": "module", "library": "acme_tile.so", "sha256": ")" + kHash +
               R"(", "requires": ["extension:acme_npu"]})"),
      "acme.pack.json");
  EXPECT_EQ(read.id, "acme");
  EXPECT_EQ(read.version, "1.0.0");
  EXPECT_EQ(read.vendor, "Acme");
  EXPECT_EQ(read.licence, "MIT");
  ASSERT_EQ(read.plugins.size(), 1U);
  EXPECT_EQ(read.plugins[0].kind, PluginKind::Module);
  EXPECT_EQ(read.plugins[0].id, "acme_tile");
  EXPECT_EQ(read.plugins[0].library, "acme_tile.so");
  EXPECT_EQ(read.plugins[0].sha256, kHash);
  ASSERT_EQ(read.plugins[0].needs.size(), 1U);
  EXPECT_EQ(read.plugins[0].needs[0].kind, PluginKind::Extension);
  EXPECT_EQ(read.plugins[0].needs[0].id, "acme_npu");
}

TEST(Manifest, DamageIsNamedWithItsPlace) {
  EXPECT_THAT(error_of("{\n  \"id\": oops\n}"), HasSubstr("acme.pack.json:2:9: not JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("not JSON; syntax error while parsing value"));
  EXPECT_THAT(error_of(R"({"manifest_version": 1e999})"), HasSubstr("not JSON; number overflow"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(error_of("{\"plugins\": " + deep + "}"), HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(error_of("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error_of(R"({"manifest_version": 1, "id": "a", "id": "b"})"), HasSubstr("duplicate key 'id'"));
  EXPECT_THAT(error_of(R"({"manifest_version": 1, "id": "a"})"), HasSubstr("version: is missing"));
  EXPECT_THAT(error_of(R"({"manifest_version": 2, "later": 1})"),
              HasSubstr("manifest_version: built for 2, this is 1"));
  EXPECT_THAT(error_of(R"({"id": "a"})"), HasSubstr("manifest_version: is missing"));
}

TEST(Manifest, UnknownKeyGivesTheNearest) {
  EXPECT_THAT(error_of(manifest(R"({"librari": "x.so"})")),
              HasSubstr("plugins[0].librari: unknown key; did you mean 'library'?"));
  EXPECT_THAT(error_of(manifest("", R"("licens": "MIT", )")),
              HasSubstr("licens: unknown key; did you mean 'licence'?"));
}

TEST(Manifest, WrongValuesAreNamed) {
  const auto plugin = [](const std::string& id, const std::string& kind, const std::string& library,
                         const std::string& hash, const std::string& needs = "[]") {
    return error_of(manifest(R"({"id": ")" + id + R"(", "kind": ")" + kind + R"(", "library": ")" + library +
                             R"(", "sha256": ")" + hash + R"(", "requires": )" + needs + "}"));
  };
  EXPECT_EQ(plugin("a", "module", "a.so", kHash), "accepted");
  EXPECT_THAT(plugin("A b", "module", "a.so", kHash),
              HasSubstr("plugins[0].id: expected an id of a-z, 0-9 and _"));
  EXPECT_THAT(plugin("a", "modul", "a.so", kHash),
              HasSubstr("unknown kind of plugin 'modul'; did you mean 'module'?"));
  EXPECT_THAT(plugin("a", "module", "/a.so", kHash),
              HasSubstr("plugins[0].library: expected a path relative"));
  EXPECT_THAT(plugin("a", "module", "", kHash), HasSubstr("plugins[0].library: is empty"));
  EXPECT_THAT(plugin("a", "module", "a.so", "abc"), HasSubstr("plugins[0].sha256: expected 64"));
  EXPECT_THAT(plugin("a", "module", "a.so", kHash, "[\"vnni\"]"), HasSubstr("expected strings like"));
  EXPECT_THAT(plugin("a", "module", "a.so", kHash, "3"),
              HasSubstr("plugins[0].requires: expected a list, got number"));
}

}  // namespace
}  // namespace tunesmith
