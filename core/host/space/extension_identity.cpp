#include "space/extension_identity.h"

#include "tunesmith/support/hash.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

constexpr std::string_view kKernelsVendor = "Tunesmith";  // TUNESMITH_PLUGIN_VENDOR of the kernel's own build

std::string hash_of_bytes(const PluginInfo& library, uint64_t hash) {
  const auto add = [&hash](std::string_view text) { hash = hash_combine(hash, hash_bytes(text)); };
  add(library.version);
  add(library.sha256);
  for (const auto& [name, sha256] : library.libraries) {
    add(name);
    add(sha256);
  }
  return hex64(hash);
}

}  // namespace

std::string extension_identity(const TargetExtension& extension, const Options& options,
                               const PluginInfo* library) {
  if (const auto* file = dynamic_cast<const ExtensionFile*>(&extension)) return hex64(file->content_hash());
  return hash_of_bytes(*library, hash_bytes(options.str()));
}

std::string foreign_target_identity(const PluginInfo& library) {
  const bool kernels = library.source == PluginSource::System && library.vendor == kKernelsVendor;
  return kernels ? "" : hash_of_bytes(library, 0);
}

}  // namespace tunesmith
