// An importer of files that end in .null_importer: each is a network that returns its input. A start for your
// own. The interface is documented in <tunesmith/network/importer.h>.
#include <tunesmith/network/importer.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/error.h>

namespace {

using namespace tunesmith;

class NullImporter final : public Importer {
 public:
  // Decides by the file's name and its first bytes.
  bool reads(std::string_view file_name, std::span<const std::byte> /*head*/) const override {
    return file_name.ends_with(".null_importer");
  }

  // Reads a network. The bytes are untrusted: throw UserError for all invalid contents.
  network::Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& /*owner*/,
                          const std::filesystem::path& /*folder*/) const override {
    if (bytes.empty()) throw UserError("the file is empty");
    network::Network network;
    network.name = "same";
    network.tensors = {{"X", kF32, std::vector<network::Extent>{"n"}, nullptr}};
    network.inputs = {0};
    network.outputs = {0};
    return network;
  }

  // Here: define the format's operators as statements of the workload language.
  const network::Operator* find_operator(std::string_view /*op*/, int64_t /*version*/) const override {
    return nullptr;
  }
};

}  // namespace

// Class, kind, id, version, one line of help, options.
TUNESMITH_PLUGIN(NullImporter, PluginKind::Importer, "null_importer", "0.1.0",
                 "reads networks that do nothing");
