// The conformance kit finds mistakes in the texts of the pack's intrinsics. That it passes the correct texts
// is tested with all built-in plugins (tests/conformance).
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "intrinsic_checks.h"
#include "packs/pack_file.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

std::shared_ptr<Target> device(const char* architecture = "sm_90a") {
  static PluginRegistry registry;
  std::vector<RawOption> written(1);
  written[0].name = "arch";
  written[0].values.emplace_back().text = architecture;
  return registry.create<Target>(
      "cuda", Options::validate(registry.option_specs(PluginKind::Target, "cuda"), written, "cuda"));
}

std::string pack() {
  std::stringstream text;
  text << std::ifstream(pack_file("hopper")).rdbuf();
  return text.str();
}

TEST(Hopper, HasItsIntrinsicsForEachTypeAndWidth) {
  EXPECT_EQ(ExtensionFile::parse(pack(), "pack.yaml")->intrinsics().size(), 42U);
}

TEST(Hopper, IsOfOneArchitecture) {
  const auto extension = ExtensionFile::parse(pack(), "pack.yaml");
  EXPECT_TRUE(extension->probe(*device("sm_90a")).missing.empty());
  for (const char* other : {"sm_80", "sm_90", "sm_100", "sm_100a", "sm_120"})
    EXPECT_EQ(extension->probe(*device(other)).missing, "sm_90a") << other;
}

/// The pack without most of its variants: one shows all mistakes, and is faster.
std::string one_variant() {
  std::string text = pack();
  for (const char* variant : {"type: bf16", "columns: 192", "columns: 256"}) {
    for (size_t at = text.find(variant); at != std::string::npos; at = text.find(variant)) {
      const size_t begin = text.rfind("\n", at);
      text.erase(begin, text.find('\n', at) - begin);
    }
  }
  return text;
}

/// What the kit says of the pack; "" if it passes.
std::string complaint(const std::string& text) {
  try {
    const auto extension = ExtensionFile::parse(text, "pack.yaml");
    const conformance::Verdict verdict = conformance::check_intrinsics(device(), *extension);
    return verdict.outcome == conformance::Outcome::Failed ? verdict.reason : "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Hopper, PassesInOneVariant) { EXPECT_EQ(complaint(one_variant()), ""); }

struct Mistake {
  const char* name;
  const char* right;
  const char* wrong;
};

class AMistakeInHopper : public ::testing::TestWithParam<Mistake> {};

TEST_P(AMistakeInHopper, IsFound) {
  std::string text = one_variant();
  const std::string whole = text;
  const std::string right = GetParam().right;
  for (size_t at = text.find(right); at != std::string::npos; at = text.find(right, at + 1))
    text.replace(at, right.size(), GetParam().wrong);
  ASSERT_NE(text, whole);
  EXPECT_NE(complaint(text), "");
  // Later tests use the correct intrinsics.
  ExtensionFile::parse(pack(), "pack.yaml");
}

INSTANTIATE_TEST_SUITE_P(
    Hopper, AMistakeInHopper,
    ::testing::Values(Mistake{"other_rows_of_a", "wgmma_desc(A, 16, 1024)", "wgmma_desc(A, 16, 512)"},
                      Mistake{"other_panels_of_b", "B_stride * 2", "B_stride"},
                      Mistake{"other_steps_of_a", "next_a: 2", "next_a: 1"},
                      Mistake{"other_steps_of_b", "next_b: 128", "next_b: 64"},
                      Mistake{"other_steps_of_a_by_columns", "next_a: 128", "next_a: 2"},
                      Mistake{"by_columns", "majors: \"1\"", "majors: \"0\""},
                      Mistake{"by_rows", "majors: \"0\"", "majors: \"1\""},
                      Mistake{"a_by_rows", "majors: \"1, 1\"", "majors: \"1, 0\""},
                      Mistake{"a_step_less", "s < 4", "s < 3"},
                      Mistake{"begins_with_ones", "C[e] = 0,", "C[e] = 1,"},
                      Mistake{"does_not_add", "s * $next_b, 1", "s * $next_b, 0"},
                      Mistake{"does_not_wait", "      after: wgmma_wait<pending>();\n", ""},
                      Mistake{"does_not_commit", "        wgmma_commit();\n", ""},
                      Mistake{"without_a_fence", "      before_barrier: fence_async_shared();\n", ""},
                      Mistake{"rows_as_they_are", ", swizzle: always", ""},
                      Mistake{"stored_to_other_rows", "e / 2 % 2 * 8", "e / 2 % 2"}),
    [](const auto& mistake) { return std::string(mistake.param.name); });

}  // namespace
}  // namespace tunesmith
