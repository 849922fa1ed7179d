// Weights in files beside the model.
#include <fstream>

#include <fmt/format.h>
#include <sys/stat.h>

#include "model_text.h"
#include "temporary_folder.h"

namespace tunesmith::onnx_reader {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OnnxExternalFiles : public testing::Test {
 protected:
  OnnxExternalFiles() {
    fs::create_directories(folder() / "below");
    write(folder() / "model.onnx.data", "abcdefgh");
    write(folder() / "below/more", "ijkl");
    write(root_ / "outside", "abcdefgh");
    fs::create_symlink("../outside", folder() / "leads_out");
    fs::create_symlink("below/more", folder() / "leads_in");
    fs::create_directory_symlink("..", folder() / "up");
    ::mkfifo((folder() / "pipe").c_str(), 0600);
  }
  fs::path folder() const { return root_ / "model"; }

  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  static onnx::ModelProto model(const std::string& location, const std::string& entries, int elements) {
    const std::string text = fmt::format(
        "initializer {{name: \"W\" data_type: 2 dims: {} data_location: EXTERNAL "
        "external_data {{key: \"location\" value: \"{}\"}} {}}} output {{name: \"W\"}}",
        elements, location, entries);
    return model_with(text);
  }

  /// The values of W, or why they are refused.
  std::string read(const std::string& location, const std::string& entries = "", int elements = 8) const {
    const onnx::ModelProto proto = model(location, entries, elements);
    const std::string fault = refusal(proto, folder());
    if (!fault.starts_with("accepted")) return fault;
    const network::Network network = import(proto, folder());
    const auto bytes = network.tensors[0].constant->bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  test::TemporaryFolder root_;
};

std::string entry(const std::string& key, const std::string& text) {
  return fmt::format("external_data {{key: \"{}\" value: \"{}\"}} ", key, text);
}

TEST_F(OnnxExternalFiles, AreReadFromAnOffset) {
  EXPECT_EQ(read("model.onnx.data"), "abcdefgh");
  EXPECT_EQ(read("model.onnx.data", entry("offset", "3"), 5), "defgh");
  EXPECT_EQ(read("model.onnx.data", entry("offset", "3") + entry("length", "2"), 2), "de");
  EXPECT_EQ(read("below/../model.onnx.data", entry("offset", "8") + entry("length", "0"), 0), "");
  EXPECT_EQ(read("leads_in", "", 4), "ijkl");
}

TEST_F(OnnxExternalFiles, OutsideTheFolderAreRefused) {
  for (const char* location : {"../outside", "leads_out", "up/outside", "below/../../outside"})
    EXPECT_THAT(read(location), HasSubstr("lies outside the model's folder")) << location;
  // Caches of models consist of such links.
  EXPECT_THAT(read("leads_out"),
              HasSubstr("; 'leads_out' is a link to '../outside'; give a folder of the files"));
  EXPECT_THAT(read("up/outside"), HasSubstr("; 'up' is a link to '..'"));
  for (const char* location : {"", "/etc/hostname"})
    EXPECT_THAT(read(location), HasSubstr("is not a path below the model's folder")) << location;
}

TEST_F(OnnxExternalFiles, ThatAreDamagedAreRefused) {
  EXPECT_THAT(read("none"), HasSubstr("none' cannot be read: No such file or directory"));
  EXPECT_THAT(read("below"), HasSubstr("not a file"));
  EXPECT_THAT(read("pipe"), HasSubstr("not a file"));
  EXPECT_THAT(read("model.onnx.data", entry("length", "9"), 9),
              HasSubstr("has 8 bytes, and 9 from 0 are asked for"));
  EXPECT_THAT(read("model.onnx.data", entry("offset", "9")),
              HasSubstr("has 8 bytes, and those from 9 are asked for"));
  EXPECT_THAT(read("model.onnx.data", entry("offset", "4") + entry("length", "18446744073709551615")),
              HasSubstr("are asked for"));
  EXPECT_THAT(read("model.onnx.data", entry("length", "4")),
              HasSubstr("its shape takes 8 bytes, and there are 4"));
  EXPECT_THAT(read("model.onnx.data", entry("offset", "-1")),
              HasSubstr("the offset of its external data, '-1', is not a number"));
}

}  // namespace
}  // namespace tunesmith::onnx_reader
