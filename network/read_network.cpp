#include "tunesmith/network/read_network.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tunesmith/network/operator_files.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;

struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

MappedFile map_file(const fs::path& path) {
  const auto refuse = [&](const std::string& why) { return UserError(SourceLocation{path.string()}, why); };
  // Non-blocking: opening a pipe would wait before the check for a regular file.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw refuse(std::strerror(errno));
  const std::shared_ptr<const int> closer(&file, [](const int* descriptor) { ::close(*descriptor); });
  struct stat status{};
  if (::fstat(file, &status) != 0) throw refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw refuse("not a file");
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) throw refuse("the file is empty");
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) throw refuse(std::strerror(errno));
  return {{static_cast<const std::byte*>(memory), size},
          {memory, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); }}};
}

/// Imports the file; errors get the file's name.
Network import(const Importer& importer, const std::string& id, const MappedFile& file,
               const fs::path& path) {
  try {
    return guard_plugin(PluginKind::Importer, id, "import", [&] {
      const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
      return importer.import(file.bytes, file.owner, folder);
    });
  } catch (const UserError& error) {
    throw UserError(SourceLocation{path.string()}, error.what());
  }
}

}  // namespace

ReadNetwork read_network(PluginRegistry& registry, const fs::path& file,
                         const std::vector<std::string>& operators) {
  constexpr size_t kHead = 4096;
  const MappedFile mapped = map_file(file);
  const std::span<const std::byte> head = mapped.bytes.first(std::min(kHead, mapped.bytes.size()));
  std::vector<std::string> asked;
  for (const PluginInfo& info : registry.list(PluginKind::Importer)) {
    const std::shared_ptr<Importer> importer = registry.create<Importer>(
        info.id,
        Options::defaults(registry.option_specs(info.kind, info.id), plugin_name(info.kind, info.id)));
    const bool reads = guard_plugin(PluginKind::Importer, info.id, "reads",
                                    [&] { return importer->reads(file.filename().string(), head); });
    asked.push_back(info.id);
    if (!reads) continue;
    Network network = import(*importer, info.id, mapped, file);
    try {
      check_invariants(network);
    } catch (const InternalError& error) {
      throw PluginError(PluginKind::Importer, info.id,
                        fmt::format("[P30] {}: {}", file.string(), error.what()));
    }
    return {std::move(network), info.id, with_operators(importer, operators)};
  }
  if (asked.empty()) {
    throw EnvironmentError(fmt::format("{}: no importer can read it: this build has none; {}", file.string(),
                                       registry.places_looked_at()));
  }
  throw UserError(SourceLocation{file.string()},
                  fmt::format("no importer can read it; tried {}", fmt::join(asked, ", ")));
}

}  // namespace tunesmith::network
