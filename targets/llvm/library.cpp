#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "library_source.h"
#include "llvm_target.h"
#include "run_program.h"
#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

namespace {

namespace fs = std::filesystem;

/// What kernels are most likely to need and GCC can ask for by these names.
constexpr const char* kCheckedFeatures[] = {"avx2",     "fma",      "avx512f",    "avx512bw",
                                            "avx512dq", "avx512vl", "avx512vnni", "avx512bf16"};

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written", path.string()));
}

/// The archive with the thread pool lies beside libtunesmith, any of whose functions says where that is.
fs::path runtime_archive() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&lower_options_of), &info) == 0 || info.dli_fname == nullptr) {
    throw EnvironmentError("the place of libtunesmith cannot be found");
  }
  const fs::path archive = fs::canonical(info.dli_fname).parent_path() / "libtunesmith_runtime.a";
  if (!fs::exists(archive)) {
    throw EnvironmentError(fmt::format(
        "{} is missing; it is part of the installation and built libraries need it", archive.string()));
  }
  return archive;
}

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::ranges::all_of(
      name, [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

/// A folder for intermediate files that goes with this object.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& parent) {
    std::string pattern = (parent / ".tunesmith-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw EnvironmentError(fmt::format("no folder can be made in {}", parent.string()));
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

}  // namespace

LibraryFiles LlvmTarget::build_library(const LibraryRequest& request) {
  if (!is_identifier(request.name))
    throw UserError(fmt::format("'{}' cannot be the name of a library: it is no C identifier", request.name));
  check_invariant(request.kernel->symbol != request.name, "a kernel's symbol is not its library's name");
  const std::string compiler = find_program("cc");
  if (compiler.empty()) {
    throw EnvironmentError(
        "a library cannot be built: there is no C compiler 'cc' in PATH; install gcc or clang");
  }
  const fs::path archive = runtime_archive();
  const fs::path directory = request.directory;
  const fs::path library = directory / fmt::format("lib{}.so", request.name),
                 header = directory / (request.name + ".h");
  std::vector<std::string> features;
  for (const char* feature : kCheckedFeatures) {
    if (machine_.has(feature)) features.emplace_back(feature);
  }

  const ScratchFolder scratch(directory);
  const fs::path source = scratch / (request.name + ".c"), object = scratch / "kernel.o",
                 script = scratch / "exports.map", linked = scratch / "library.so",
                 own_header = scratch / (request.name + ".h");
  write_file(source, library_source(request, features));
  write_file(object, request.kernel->object);
  write_file(script, library_version_script(request));
  write_file(own_header, library_header(request));
  const std::vector<std::string> command = {compiler,
                                            "-std=gnu11",
                                            "-O2",
                                            "-fPIC",
                                            "-shared",
                                            "-fvisibility=hidden",
                                            source,
                                            object,
                                            archive,
                                            "-o",
                                            linked,
                                            "-pthread",
                                            "-lm",
                                            "-Wl,--no-undefined",
                                            "-Wl,-z,now",
                                            "-Xlinker",  // -Wl would cut a path at its commas
                                            fmt::format("--version-script={}", script.string()),
                                            fmt::format("-Wl,-soname,lib{}.so", request.name)};
  const ProgramResult result = run_program(command);
  if (result.status != 0) {
    throw EnvironmentError(fmt::format("the library cannot be built: {} ended with {}:\n{}",
                                       fmt::join(command, " "), result.status, result.output));
  }
  // Renamed into place: a process that has the old library loaded keeps it whole.
  fs::rename(linked, library);
  fs::rename(own_header, header);
  return {library, header};
}

}  // namespace tunesmith::llvm_target
