// Files that are cut off, and real ones.
#include <fstream>

#include "model_text.h"

namespace tunesmith::onnx_reader {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string whole_model() {
  onnx::ModelProto model =
      model_with(value("input", "X", {"dim_value: 2"}) + value("output", "Y", {"dim_value: 2"}) +
                 R"(initializer {name: "W" data_type: 1 dims: 2 float_data: 1 float_data: 2}
         node {op_type: "Add" input: "X" input: "W" output: "T"} node {op_type: "Relu" input: "T" output: "Y"})");
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(std::string(8, '\0'));
  return model.SerializeAsString();
}

/// Is it accepted? Rethrows everything but UserError.
bool accepted(const std::string& bytes) {
  try {
    import_bytes(bytes);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

TEST(OnnxDamage, FilesThatAreCutOffAreRefused) {
  const std::string bytes = whole_model();
  ASSERT_TRUE(accepted(bytes));
  // Only the operators' version stands behind the graph.
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(accepted(bytes.substr(0, size))) << size;
  EXPECT_THROW(
      try { import_bytes(bytes.substr(0, bytes.size() / 2)); } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("damaged or truncated"));
        throw;
      },
      UserError);
}

TEST(OnnxDamage, FilesAreKnownByNameOrBeginning) {
  const std::string bytes = whole_model();
  const auto looks = [](const char* name, const std::string& head) {
    return looks_like_onnx(name, std::as_bytes(std::span(head)));
  };
  EXPECT_TRUE(looks("model.onnx", ""));
  EXPECT_TRUE(looks("model", bytes));
  EXPECT_FALSE(looks("model.txt", "name: gmm"));
  EXPECT_FALSE(looks("model", ""));
}

/// Debian's libonnx-testdata, where it is installed.
TEST(OnnxTestData, EachModelIsReadOrRefusedByName) {
  const fs::path folder = "/usr/share/libonnx-testdata/data";
  if (!fs::exists(folder)) GTEST_SKIP() << "libonnx-testdata is not installed";
  int read = 0;
  int refused = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    try {
      EXPECT_FALSE(to_text(import_bytes(bytes, entry.path().parent_path())).empty());
      ++read;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("is unsupported"), HasSubstr("are unsupported"),
                                               HasSubstr("expected a dense tensor")))
          << entry.path();
      ++refused;
    }
  }
  EXPECT_GE(read, 784) << refused << " are refused";
}

}  // namespace
}  // namespace tunesmith::onnx_reader
