#include "emulation/emulated_kernel.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulation/declared_shared.h"
#include "emulation/kernel_declarations.h"
#include "support/support_folder.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlign = 16;
// Unowned memory behind the dynamic shared memory, to detect overruns.
constexpr size_t kRedZone = 16384;
constexpr int kMemoryDescriptor = 3;
/// The alignment for instructions' swizzles. Dynamic shared memory declared with less
/// begins beside such a multiple, so that a kernel that assumes more is wrong here, too.
constexpr size_t kSwizzleAlignment = 1024;

std::string find_compiler() {
  const char* chosen = std::getenv("TUNESMITH_CXX");
  return find_in_path({chosen != nullptr && *chosen != '\0' ? chosen : "g++", "c++"});
}

std::string host_compiler() {
  const std::string found = find_compiler();
  if (found.empty())
    throw EnvironmentError("the emulation needs a C++ compiler: no g++ or c++ in PATH; set TUNESMITH_CXX");
  return found;
}

// Links a small program in less than half the time of
// the default linker, which takes as long as compiling.
bool has_quick_linker() {
  static const bool found = !find_in_path({"ld.gold"}).empty();
  return found;
}

// The kernel's text, followed by the names by which the runtime calls it. Names of dynamic shared memory
// are labels of one array: their types are the kernel's, and no C++ declaration could have several.
std::string unit_text(const std::string& text, const std::vector<std::string>& kernels,
                      const std::string& file, size_t dynamic_bytes) {
  std::string entries;
  for (const std::string& kernel : kernels)
    entries += fmt::format("    tunesmith_emulation::Launcher<{0}>::entry(\"{0}\", unsigned({1})),\n", kernel,
                           max_threads(text, kernel));
  std::string labels;
  DynamicShared dynamic = dynamic_shared(text);
  dynamic.names.insert("tunesmith_dynamic_shared");
  for (const std::string& name : dynamic.names)
    labels += fmt::format("    \".globl {0}\\n.type {0}, %tls_object\\n{0}:\\n\"\n", name);
  return fmt::format(R"(#line 1 "{}"
{}
#line 1 "launcher"
extern "C" {{
const tunesmith_emulation::KernelEntry tunesmith_kernel_entries[] = {{
{}}};
const unsigned tunesmith_kernel_count = {};
extern const unsigned long tunesmith_dynamic_reserve;
const unsigned long tunesmith_dynamic_reserve = {};
}}
asm(".section .tbss,\"awT\",%nobits\n.balign 1024\n.zero {}\n"
{}    ".zero {}\n.text\n");
)",
                     file, text, entries, kernels.size(), dynamic_bytes + kRedZone,
                     dynamic.alignment % kSwizzleAlignment, labels, dynamic_bytes + kRedZone);
}

// The buffers' memory, which parent and child share.
class BufferMemory {
 public:
  explicit BufferMemory(const std::vector<EmulatedArgument>& arguments) {
    descriptor_ = memfd_create("tunesmith-buffers", MFD_CLOEXEC);
    if (descriptor_ < 0) throw EnvironmentError(fmt::format("memfd_create: {}", std::strerror(errno)));
    size_t end = 0;
    for (const EmulatedArgument& argument : arguments) {
      // A buffer ends at the end of its last page, so that the next byte is unowned.
      const size_t bytes = (argument.bytes.size() + kAlign - 1) / kAlign * kAlign;
      end += (bytes + kPage - 1) / kPage * kPage;
      offsets_.push_back(end - bytes);
    }
    if (ftruncate(descriptor_, off_t(end)) != 0)
      throw EnvironmentError(
          fmt::format("{} bytes for the buffers of a launch: {}", end, std::strerror(errno)));
  }
  ~BufferMemory() { close(descriptor_); }
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  int descriptor() const { return descriptor_; }
  size_t offset(size_t argument) const { return offsets_[argument]; }

  void write(const std::vector<EmulatedArgument>& arguments) const {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!is_buffer(arguments[i])) continue;
      const std::vector<unsigned char>& bytes = arguments[i].bytes;
      transfer(bytes.size(), [&](size_t done) {
        return pwrite(descriptor_, bytes.data() + done, bytes.size() - done, off_t(offsets_[i] + done));
      });
    }
  }
  void read(std::vector<EmulatedArgument>& arguments) const {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!is_buffer(arguments[i])) continue;
      std::vector<unsigned char>& bytes = arguments[i].bytes;
      transfer(bytes.size(), [&](size_t done) {
        return pread(descriptor_, bytes.data() + done, bytes.size() - done, off_t(offsets_[i] + done));
      });
    }
  }

 private:
  static bool is_buffer(const EmulatedArgument& argument) {
    using Kind = EmulatedArgument::Kind;
    return argument.kind == Kind::Buffer || argument.kind == Kind::Input || argument.kind == Kind::Hidden;
  }
  template <class Move>
  static void transfer(size_t bytes, Move move) {
    for (size_t done = 0; done < bytes;) {
      const ssize_t moved = move(done);
      if (moved <= 0)
        throw EnvironmentError(fmt::format("the buffers of a launch: {}", std::strerror(errno)));
      done += size_t(moved);
    }
  }

  int descriptor_ = -1;
  std::vector<size_t> offsets_;
};

std::string argument_option(const EmulatedArgument& argument, size_t offset) {
  switch (argument.kind) {
    case EmulatedArgument::Kind::Buffer:
      return fmt::format("--buffer={}:{}:{}", argument.name, offset, argument.bytes.size());
    case EmulatedArgument::Kind::Input:
      return fmt::format("--input={}:{}:{}", argument.name, offset, argument.bytes.size());
    case EmulatedArgument::Kind::Hidden:
      return fmt::format("--hidden={}:{}:{}", argument.name, offset, argument.bytes.size());
    case EmulatedArgument::Kind::Value:
      return fmt::format("--value={:02x}", fmt::join(argument.bytes, ""));
    case EmulatedArgument::Kind::Map:
      return fmt::format("--map={}:{}:{}:{}:{}", argument.name, argument.tensor.rank,
                         fmt::join(argument.tensor.extents, ","), fmt::join(argument.tensor.strides, ","),
                         fmt::join(argument.tensor.box, ","));
  }
  throw InternalError("an argument of no kind");
}

struct Line {
  std::string what, name, rest;
};

std::vector<Line> lines_of(const std::string& report) {
  std::vector<Line> lines;
  std::istringstream stream(report);
  for (std::string text; std::getline(stream, text);) {
    Line line;
    std::istringstream words(text);
    std::getline(words, line.what, '\t');
    std::getline(words, line.name, '\t');
    std::getline(words, line.rest);
    lines.push_back(std::move(line));
  }
  return lines;
}

EmulatedFinding& finding_of(EmulationReport& report, const std::string& kind) {
  for (EmulatedFinding& finding : report.findings)
    if (finding.kind == kind) return finding;
  report.findings.push_back({kind, 0, {}});
  return report.findings.back();
}

/// Nothing if the text is no number: a killed child may leave half a line.
std::optional<uint64_t> number_in(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

EmulationReport report_of(const std::vector<Line>& lines, const ProcessResult& process,
                          double time_limit_seconds) {
  EmulationReport report;
  report.cpu_seconds = process.end.cpu_seconds;
  bool done = false;
  for (const Line& line : lines) {
    if (line.what == "finding") finding_of(report, line.name).messages.push_back(line.rest);
    if (line.what == "count" || line.what == "counter") {
      const std::optional<uint64_t> number = number_in(line.rest);
      if (!number) break;
      if (line.what == "count") {
        finding_of(report, line.name).count = *number;
      } else {
        report.counters[line.name] = *number;
      }
    }
    done = done || line.what == "done";
  }
  if (process.end.cause == ProcessEnd::Cause::TimedOut) {
    report.failure = fmt::format("ran longer than {} s", time_limit_seconds);
  } else if (!done) {
    report.failure = process.end.cause == ProcessEnd::Cause::Signalled
                         ? fmt::format("ended by signal {} ({})", process.end.code, process.end.str())
                         : fmt::format("ended with {}", process.end.str());
    if (!process.errors.empty()) report.failure += ": " + process.errors;
  }
  return report;
}

}  // namespace

const char* order_name(ThreadOrder order) {
  return order == ThreadOrder::Forward ? "forward" : order == ThreadOrder::Backward ? "backward" : "random";
}

bool EmulationReport::found(const std::string& kind) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const EmulatedFinding& finding) { return finding.kind == kind; });
}

std::string EmulationReport::text() const {
  std::string text;
  for (const EmulatedFinding& finding : findings)
    text += fmt::format("{} ({} times): {}\n", finding.kind, finding.count,
                        finding.messages.empty() ? "" : finding.messages.front());
  if (!failure.empty()) text += failure + "\n";
  return text;
}

EmulatedKernel::EmulatedKernel(const std::string& text, const std::vector<std::string>& kernels,
                               const std::string& file, const EmulationOptions& options)
    : checked_(options.checked),
      kernel_(options.kernel),
      dynamic_shared_bytes_(options.dynamic_shared_bytes) {
  const std::filesystem::path support = support_folder();
  const std::string unit = (folder_.path() / "unit.cpp").string(),
                    object = (folder_.path() / "unit.o").string();
  std::ofstream(unit) << unit_text(text, kernels, file, options.dynamic_shared_bytes);
  const std::string compiler = host_compiler();
  // Checked kernels run briefly: optimising beyond -Og takes longer to compile than it saves.
  std::vector<std::string> compile{compiler, "-std=c++20", checked_ ? "-Og" : "-O2", "-w", "-fno-exceptions",
                                   // Vectors are accessed through pointers to other types.
                                   "-fno-strict-aliasing", "-include",
                                   (support / "device" / "tunesmith_emulation.h").string(),
                                   "-I" + (support / "device").string(), "-c", unit, "-o", object};
#if defined(__x86_64__)
  compile.push_back("-march=native");
#endif
  // Calls a function for each access; the runtime has these, and the linker is not told to look for others.
  if (checked_) compile.push_back("-fsanitize=thread,alignment,bounds,shift-exponent");
  // Uninitialised variables of a thread get a large number, instead of a value that may be right by chance.
  if (checked_) compile.push_back("-ftrivial-auto-var-init=pattern");
  std::vector<std::string> link{compiler, object, (support / "libtunesmith_cuda_emulation.a").string(), "-o",
                                (folder_.path() / "kernel").string()};
  if (has_quick_linker()) link.push_back("-fuse-ld=gold");
  for (const std::vector<std::string>& command : {compile, link}) {
    const ProcessResult result = run_process(command, {options.compile_seconds, RunOptions::Errors::Apart});
    log_ += result.errors;
    if (result.end.cause == ProcessEnd::Cause::TimedOut)
      log_ += fmt::format("{} ran longer than {} s\n", compiler, options.compile_seconds);
    if (!result.end.succeeded()) return;
  }
  const bool has_others = kernels_in(text) > kernels.size();
  if (const size_t bytes = declared_shared_bytes(object, kernels, has_others);
      bytes > options.static_shared_bytes) {
    log_ += fmt::format(
        "{}: error: {} bytes of static shared memory, at most {}; more must be dynamic (extern __shared__)\n",
        file, bytes, options.static_shared_bytes);
    return;
  }
  compiled_ = true;
}

EmulatedKernel::EmulatedKernel(const std::string& program, const EmulationOptions& options)
    : checked_(options.checked),
      kernel_(options.kernel),
      dynamic_shared_bytes_(options.dynamic_shared_bytes),
      compiled_(true) {
  const std::filesystem::path file = folder_.path() / "kernel";
  std::ofstream(file, std::ios::binary) << program;
  std::error_code error;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all, error);
  if (error || std::filesystem::file_size(file, error) != program.size())
    throw EnvironmentError(fmt::format("{}: an emulated kernel cannot be written there", file.string()));
}

bool EmulatedKernel::has_compiler() { return !find_compiler().empty(); }

std::string EmulatedKernel::program() const {
  check_invariant(compiled_, "a kernel that did not compile is no program");
  std::ifstream file(folder_.path() / "kernel", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

EmulationReport EmulatedKernel::run(const Launch& launch, std::vector<EmulatedArgument>& arguments,
                                    const EmulatedRun& how) {
  check_invariant(compiled_, "a kernel that did not compile is not run");
  check_invariant(launch.dynamic_shared_bytes <= dynamic_shared_bytes_,
                  "more shared memory than it was compiled for");
  const BufferMemory memory(arguments);
  std::vector<std::string> command{(folder_.path() / "kernel").string(),
                                   fmt::format("--grid={}", fmt::join(launch.grid, ",")),
                                   fmt::format("--block={}", fmt::join(launch.block, ",")),
                                   fmt::format("--shared={}", launch.dynamic_shared_bytes),
                                   fmt::format("--order={}", order_name(how.order)),
                                   fmt::format("--in-turn={}", how.in_turn ? 1 : 0),
                                   fmt::format("--seed={}", how.seed),
                                   fmt::format("--seconds={}", int(how.time_limit_seconds) + 1),
                                   fmt::format("--memory={}", kMemoryDescriptor),
                                   fmt::format("--check={}", checked_ && how.check_accesses ? 1 : 0)};
  if (!kernel_.empty()) command.push_back("--kernel=" + kernel_);
  for (size_t i = 0; i < arguments.size(); ++i)
    command.push_back(argument_option(arguments[i], memory.offset(i)));
  // The place of the option that may change.
  const auto granules = command.insert(command.begin() + 1, "");
  for (;;) {
    *granules = fmt::format("--granules={},{}", granules_->shared.load(), granules_->global.load());
    memory.write(arguments);
    const ProcessResult process =
        run_process(command, {how.time_limit_seconds, RunOptions::Errors::Apart, {memory.descriptor()}});
    const std::vector<Line> lines = lines_of(process.output);
    if (!lines.empty() && lines.back().what == "granule") {
      std::atomic<unsigned>& granule = lines.back().name == "shared" ? granules_->shared : granules_->global;
      const uint64_t finer = number_in(lines.back().rest).value_or(0);
      if (std::has_single_bit(finer) && finer < kAlign) {
        granule = unsigned(finer);
        continue;
      }
    }
    memory.read(arguments);
    return report_of(lines, process, how.time_limit_seconds);
  }
}

}  // namespace tunesmith::cuda
