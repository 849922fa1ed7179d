// The conformance kit finds mistakes in the texts of the packs' intrinsics. That it passes the correct texts
// is tested with all built-in plugins (tests/conformance).
#include <fstream>
#include <ostream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intrinsic_checks.h"
#include "packs/pack_file.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<Target> device() {
  static PluginRegistry registry;
  return registry.create<Target>(
      "cuda", Options::validate(registry.option_specs(PluginKind::Target, "cuda"), {}, "cuda"));
}

std::string text_of(const char* pack) {
  std::stringstream text;
  text << std::ifstream(pack_file(pack)).rdbuf();
  return text.str();
}

struct Mistake {
  const char* name;
  const char* pack;
  const char* right;
  const char* wrong;
};

// So that tests have the same names everywhere.
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class AMistakeInAPack : public ::testing::TestWithParam<Mistake> {};

TEST_P(AMistakeInAPack, IsFound) {
  const Mistake& mistake = GetParam();
  std::string text = text_of(mistake.pack);
  const size_t at = text.find(mistake.right);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(mistake.right).size(), mistake.wrong);
  const auto extension = ExtensionFile::parse(text, "pack.yaml");
  std::string seen;
  try {
    const conformance::Verdict verdict = conformance::check_intrinsics(device(), *extension);
    if (verdict.outcome == conformance::Outcome::Failed) seen = verdict.reason;
  } catch (const Error& error) {
    seen = error.what();
  }
  EXPECT_NE(seen, "");
  // Later tests use the correct intrinsics.
  ExtensionFile::parse(text_of(mistake.pack), "pack.yaml");
}

INSTANTIATE_TEST_SUITE_P(
    TensorCore, AMistakeInAPack,
    ::testing::Values(
        Mistake{"loaded_by_columns", "tensor_core", "wmma_load_a$of<$a>", "wmma_load_a$of<1>"},
        Mistake{"loaded_by_rows", "tensor_core", "wmma_load_b$of<$b>", "wmma_load_b$of<0>"},
        Mistake{"multiplied_by_columns", "tensor_core", "wmma_mma$of<$a, $b>", "wmma_mma$of<$a, 1>"},
        Mistake{"factors_exchanged", "tensor_core", "wmma_mma$of<$a, $b>", "wmma_mma$of<$b, $a>"},
        Mistake{"one_layout_for_both_orders", "tensor_core", "layout: a$a", "layout: a"},
        Mistake{"stored_by_columns", "tensor_core", "wmma_store<0>", "wmma_store<1>"},
        Mistake{"forgets_the_zero", "tensor_core", "C[e] = 0;", "C[e] = 1;"},
        Mistake{"not_transposed", "tensor_core_mma", "ldmatrix_x4_trans", "ldmatrix_x4"},
        Mistake{"transposed", "tensor_core_mma", "ldmatrix_x4(B,", "ldmatrix_x4_trans(B,"},
        Mistake{"columns_of_other_lanes", "tensor_core_mma", "ldmatrix_x4_trans(A, M_at((threadIdx.x % 8",
                "ldmatrix_x4_trans(A, M_at((threadIdx.x / 8 % 2 * 8"},
        Mistake{"rows_of_other_lanes", "tensor_core_mma", "threadIdx.x % 16 * M_stride + threadIdx.x / 16",
                "threadIdx.x / 2 * M_stride + threadIdx.x % 2"},
        Mistake{"rows_of_bytes", "tensor_core_mma", "k: 32, row: 16}", "k: 32, row: 8}"},
        Mistake{"not_rounded", "tensor_core_mma", "of: _f32", "of: _tf32"},
        Mistake{"halves_swapped", "tensor_core_mma", "B[0], B[1]", "B[1], B[0]"},
        Mistake{"stored_to_other_rows", "tensor_core_mma", "e / 2 % 2 * 8", "e / 2 % 2"}),
    [](const auto& mistake) { return std::string(mistake.param.name); });

}  // namespace
}  // namespace tunesmith
