// The importer of ONNX files.
#include <operators_onnx/find_operator.h>

#include <tunesmith/network/importer.h>
#include <tunesmith/plugin/plugin.h>

#include "read_onnx.h"

namespace {

using namespace tunesmith;

class OnnxImporter final : public Importer {
 public:
  bool reads(std::string_view file_name, std::span<const std::byte> head) const override {
    return onnx_reader::looks_like_onnx(file_name, head);
  }

  network::Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& /*owner*/,
                          const std::filesystem::path& folder) const override {
    return onnx_reader::read_onnx(bytes, folder);
  }

  std::shared_ptr<const network::Constant> read_tensor(std::span<const std::byte> bytes) const override {
    return onnx_reader::read_tensor(bytes);
  }

  const network::Operator* find_operator(std::string_view op, int64_t version) const override {
    return operators_onnx::find_operator(op, version);
  }
};

}  // namespace

TUNESMITH_PLUGIN(OnnxImporter, PluginKind::Importer, "onnx", "0.1.0",
                 "reads ONNX models, operator sets 6 to 28");
