#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "library_source.h"
#include "llvm_target.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/installation.h"
#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

namespace {

namespace fs = std::filesystem;

/// The features that kernels most likely need, with GCC's names for queries.
constexpr const char* kCheckedFeatures[] = {"avx2",     "fma",      "avx512f",    "avx512bw",
                                            "avx512dq", "avx512vl", "avx512vnni", "avx512bf16"};

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written", path.string()));
}

/// The archive of the thread pool, beside libtunesmith.
fs::path runtime_archive() {
  const fs::path archive = library_folder() / "libtunesmith_runtime.a";
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

/// The kernel's calls of exp() would bind to the entry point of a library named exp. Queries
/// the libraries themselves: the process may have another malloc, and a copy of environ.
bool is_of_the_c_library(const std::string& name) {
  return std::ranges::any_of(std::array{"libc.so.6", "libm.so.6"}, [&](const char* file) {
    void* const library = dlopen(file, RTLD_LAZY);
    return library != nullptr && dlsym(library, name.c_str()) != nullptr;
  });
}

/// Does the C source define something of that name?
bool is_taken_in(const std::string& source, const std::string& name) {
  std::istringstream lines(source);
  const std::regex taken(fmt::format(R"(\bstatic\b[^;{{=]*\b{}\b *[;=(])", name));
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, taken)) return true;
  }
  return false;
}

void require_free_names(const std::vector<std::string>& exported, const std::string& source) {
  for (const std::string& name : exported) {
    if (is_reserved(name) || is_of_the_c_library(name) || is_taken_in(source, name))
      throw UserError(
          fmt::format("'{}' cannot name a library's function: the C language or library uses it", name),
          "give the library another name, for example with --name");
  }
}

/// Linking with -lNAME in a folder that is searched
/// first would use this library instead of the system's.
void require_free_file(const std::string& compiler, const std::string& name) {
  for (const char* ending : {".so", ".a"}) {
    const std::string file = fmt::format("lib{}{}", name, ending);
    std::string found = run_process({compiler, "-print-file-name=" + file}).output;
    std::erase(found, '\n');
    if (found != file && fs::exists(found))
      throw UserError(fmt::format("'{}' cannot name a library: the linker uses it for {}", name, found),
                      "give the library another name, for example with --name");
  }
}

/// A folder for intermediate files, deleted by the destructor.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& parent) {
    std::string pattern = (parent / ".tunesmith-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw EnvironmentError(fmt::format("cannot create a folder in {}", parent.string()));
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

/// The inputs of linking a library besides the runtime.
struct LinkParts {
  std::string source;  // C, which may include the header; one, since starting the compiler takes longest
  std::vector<const CompiledKernel*> kernels;
  std::string header;
  std::vector<std::string> exported;
};

LibraryFiles link(const std::string& name, const fs::path& directory, const LinkParts& parts) {
  if (!is_identifier(name))
    throw UserError(fmt::format("'{}' cannot name a library: not a C identifier", name));
  require_free_names(parts.exported, parts.source);
  const std::string compiler = find_in_path({"cc"});
  if (compiler.empty()) {
    throw EnvironmentError("cannot build a library: no C compiler 'cc' in PATH; install gcc or clang");
  }
  require_free_file(compiler, name);
  const fs::path archive = runtime_archive();
  const fs::path library = directory / fmt::format("lib{}.so", name), header = directory / (name + ".h");
  const ScratchFolder scratch(fs::absolute(directory));  // a name such as -lm is no option in it
  const fs::path script = scratch / "exports.map", linked = scratch / "library.so",
                 own_header = scratch / (name + ".h");
  write_file(script, version_script(parts.exported));
  write_file(own_header, parts.header);
  std::vector<std::string> command = {compiler, "-std=gnu11", "-O2",
                                      "-fPIC",  "-shared",    "-fvisibility=hidden"};
  const auto take = [&](const std::string& file, const std::string& content) {
    write_file(scratch / file, content);
    command.push_back(scratch / file);
  };
  take("source.c", parts.source);
  for (size_t i = 0; i < parts.kernels.size(); ++i)
    take(fmt::format("kernel{}.o", i), parts.kernels[i]->object);
  const std::string exports = fmt::format("--version-script={}", script.string());
  command.insert(command.end(), {archive, "-o", linked, "-pthread", "-lm", "-Wl,--no-undefined", "-Wl,-z,now",
                                 "-Xlinker", exports,  // -Wl would cut a path at its commas
                                 fmt::format("-Wl,-soname,lib{}.so", name)});
  const ProcessResult result = run_process(command);
  if (result.end.status() != 0) {
    throw EnvironmentError(fmt::format("the library cannot be built: {} ended with {}:\n{}",
                                       fmt::join(command, " "), result.end.status(), result.output));
  }
  // Renamed into place: a process that has the old library loaded keeps it whole.
  fs::rename(linked, library);
  fs::rename(own_header, header);
  return {library, header};
}

std::vector<std::string> checked_features(const Machine& machine) {
  std::vector<std::string> features;
  for (const char* feature : kCheckedFeatures) {
    if (machine.has(feature)) features.emplace_back(feature);
  }
  return features;
}

}  // namespace

LibraryFiles LlvmTarget::build_library(const LibraryRequest& request) {
  check_invariant(request.kernel->symbol != request.name,
                  "a kernel's symbol differs from its library's name");
  return link(request.name, request.directory,
              {library_source(request, checked_features(machine_)),
               {request.kernel},
               library_header(request),
               library_functions(request)});
}

LibraryFiles LlvmTarget::link_library(const LinkRequest& request) {
  return link(request.name, request.directory,
              {request.source + runs_here_source(checked_features(machine_)), request.kernels, request.header,
               request.exported});
}

}  // namespace tunesmith::llvm_target
