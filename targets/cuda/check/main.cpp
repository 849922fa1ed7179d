// tunesmith-cuda-check: checks a kernel's results and resources, with or without a GPU.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "argument.h"
#include "emulation/emulated_kernel.h"
#include "nvrtc/disassembler.h"
#include "nvrtc/refusal.h"
#include "on_gpu.h"
#include "text/main_loop.h"
#include "tunesmith/support/error.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::cuda;

enum ExitCode { kRight = 0, kWrong = 1, kUserError = 2, kEnvironmentError = 4 };

struct Request {
  std::string file, kernel, grid = "1", block = "1", device = "emulated", reference;
  std::vector<std::string> arguments, architectures, options;
  size_t shared_bytes = 0;
  double tolerance = 1e-5, seconds = 10;
  bool values_only = false, compile_only = false, main_loop = false;
};

std::string read_file(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UserError(SourceLocation{file, 0, 0}, "cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::array<unsigned, 3> read_extents(const std::string& option, const std::string& text) {
  static const std::regex pattern(R"((\d{1,9})(?:,(\d{1,9}))?(?:,(\d{1,9}))?)");
  std::smatch match;
  if (!std::regex_match(text, match, pattern))
    throw UserError(fmt::format("{} {}: expected X, X,Y or X,Y,Z", option, text));
  std::array<unsigned, 3> extents{1, 1, 1};
  for (size_t i = 0; i < extents.size(); ++i)
    if (match[i + 1].matched) extents[i] = unsigned(std::stoul(match[i + 1]));
  return extents;
}

void print_main_loop(const Compilation& compilation, const std::string& kernel) {
  const std::string disassembler = find_disassembler();
  if (disassembler.empty())
    throw EnvironmentError(
        "--main-loop needs NVIDIA's disassembler: nvdisasm in PATH, or TUNESMITH_NVDISASM");
  const auto loop = find_main_loop(disassemble(disassembler, compilation.cubin), kernel);
  std::cout << fmt::format("{:9} main loop: {}\n", compilation.architecture,
                           loop ? loop->text() : "no loop multiplies");
}

// Compiles for each requested architecture; returns how many were refused.
int compile(const Request& request, const std::string& text, const Launch& launch) {
  if (request.architectures.empty()) return 0;
  const Nvrtc* nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) throw EnvironmentError("--arch needs NVRTC: " + Nvrtc::why_absent());
  const KernelCompiler compiler(*nvrtc);
  int refused = 0;
  for (const std::string& name : request.architectures) {
    const Architecture architecture = find_architecture(name);
    const Compilation compilation = compiler.compile(text, request.file, name, request.options);
    const double milliseconds = compilation.cpu_seconds * 1e3;
    if (const std::optional<Refusal> refusal = refuse(compilation, request.kernel, architecture, launch)) {
      std::cout << fmt::format("{:9} refused, {}: {}\n", name, refusal_name(refusal->cause), refusal->text);
      ++refused;
      continue;
    }
    const KernelResources& kernel = *compilation.kernel(request.kernel);
    const size_t shared = kernel.static_shared_bytes + launch.dynamic_shared_bytes;
    const unsigned blocks = architecture.resident_blocks(kernel.registers, launch.threads(), shared);
    std::cout << fmt::format(
        "{:9} {} registers, {} bytes of shared memory, {} of {} warps a multiprocessor; NVRTC {} took {:.0f} "
        "ms\n",
        name, kernel.registers, shared, blocks * ((launch.threads() + 31) / 32), architecture.warps,
        nvrtc->version(), milliseconds);
    if (request.main_loop) print_main_loop(compilation, request.kernel);
  }
  return refused;
}

std::vector<EmulatedArgument> for_emulation(const std::vector<CheckedArgument>& checked) {
  std::vector<EmulatedArgument> arguments;
  for (const CheckedArgument& one : checked) arguments.push_back(one.argument);
  return arguments;
}

void take_contents(std::vector<CheckedArgument>& checked, const std::vector<EmulatedArgument>& arguments) {
  for (size_t i = 0; i < checked.size(); ++i) checked[i].argument.bytes = arguments[i].bytes;
}

// The results of the function `reference` in the reference's file for the arguments:
// maps are omitted, and buffers are always passed. Runs as a kernel of one thread.
std::vector<CheckedArgument> expected(const Request& request, const std::vector<CheckedArgument>& inputs) {
  std::vector<CheckedArgument> checked;
  for (const CheckedArgument& one : inputs) {
    if (one.argument.kind == EmulatedArgument::Kind::Map) continue;
    checked.push_back(one);
    if (one.argument.kind == EmulatedArgument::Kind::Hidden)
      checked.back().argument.kind = EmulatedArgument::Kind::Buffer;
  }
  EmulationOptions options;
  options.checked = false;
  EmulatedKernel kernel(read_file(request.reference), "reference", request.reference, options);
  if (!kernel.compiled())
    throw UserError(SourceLocation{request.reference, 0, 0},
                    "the compiler does not accept it:\n" + kernel.log());
  std::vector<EmulatedArgument> arguments = for_emulation(checked);
  const EmulationReport report = kernel.run({}, arguments, {.time_limit_seconds = request.seconds});
  if (!report.clean()) throw UserError(SourceLocation{request.reference, 0, 0}, report.text());
  take_contents(checked, arguments);
  return checked;
}

std::vector<CheckedArgument> make_inputs(const Request& request) {
  std::vector<CheckedArgument> inputs;
  RandomStream random(1);
  for (const std::string& argument : request.arguments) {
    inputs.push_back(read_argument(argument));
    fill(inputs.back(), random);
  }
  return inputs;
}

double largest_error_of(const std::vector<CheckedArgument>& got, const std::vector<CheckedArgument>& right) {
  double error = 0;
  for (const CheckedArgument& one : right) {
    if (!one.output) continue;
    const auto same = std::find_if(got.begin(), got.end(), [&](const CheckedArgument& other) {
      return other.output && other.argument.name == one.argument.name;
    });
    error = std::max(error, largest_error(*same, one));
  }
  return error;
}

// Returns the number of wrong runs: 0 or 1.
int run_and_time(const Request& request, const std::string& text, const Launch& launch) {
  std::vector<CheckedArgument> arguments = make_inputs(request);
  std::vector<CheckedArgument> right;
  if (!request.reference.empty()) right = expected(request, arguments);
  const GpuRun run = run_on_gpu(text, request.file, request.kernel, launch, request.options, arguments);
  const double error = largest_error_of(arguments, right);
  const bool values = error <= request.tolerance;
  std::cout << fmt::format(
      "gpu       {}  {:.3f} us  {}{}\n", run.device, run.seconds * 1e6,
      right.empty() ? "without --reference no value was compared"
      : values      ? "right"
                    : "WRONG values",
      right.empty() ? "" : fmt::format(", largest error {:.1e} of the largest value", error));
  return values ? 0 : 1;
}

// The maximum static shared memory: that of the largest requested architecture.
size_t static_shared_bytes(const Request& request) {
  size_t bytes = request.architectures.empty() ? kStaticSharedBytes : 0;
  for (const std::string& name : request.architectures)
    bytes = std::max<size_t>(bytes, find_architecture(name).static_shared_bytes);
  return bytes;
}

// Runs the three thread orders; returns the number of wrong ones.
int emulate(const Request& request, const std::string& text, const Launch& launch) {
  const std::vector<CheckedArgument> inputs = make_inputs(request);
  EmulationOptions options;
  options.checked = !request.values_only;
  options.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  options.static_shared_bytes = static_shared_bytes(request);
  EmulatedKernel kernel(text, request.kernel, request.file, options);
  if (!kernel.compiled()) {
    std::cout << "emulated  does not compile:\n" << kernel.log();
    return 1;
  }
  std::vector<CheckedArgument> right;
  if (!request.reference.empty()) right = expected(request, inputs);
  int wrong = 0;
  for (const ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Backward, ThreadOrder::Random}) {
    std::vector<EmulatedArgument> arguments = for_emulation(inputs);
    const EmulationReport report =
        kernel.run(launch, arguments, {.order = order, .time_limit_seconds = request.seconds});
    std::vector<CheckedArgument> got = inputs;
    take_contents(got, arguments);
    const double error = largest_error_of(got, right);
    const bool values = error <= request.tolerance;
    std::cout << fmt::format(
        "emulated  {:8}  {:.0f} ms  {}{}\n", order_name(order), report.cpu_seconds * 1e3,
        !report.clean() ? "WRONG"
        : right.empty() ? "no mistake found; without --reference no value was compared"
        : values        ? "right"
                        : "WRONG values",
        right.empty() ? "" : fmt::format(", largest error {:.1e} of the largest value", error));
    std::cout << report.text();
    if (!report.clean() || !values) ++wrong;
  }
  return wrong;
}

int check(const Request& request) {
  Launch launch;
  launch.grid = read_extents("--grid", request.grid);
  launch.block = read_extents("--block", request.block);
  launch.dynamic_shared_bytes = request.shared_bytes;
  const std::string text = read_file(request.file);
  const int refused = compile(request, text, launch);
  if (request.compile_only) return refused == 0 ? kRight : kWrong;
  const int wrong =
      request.device == "gpu" ? run_and_time(request, text, launch) : emulate(request, text, launch);
  return refused + wrong == 0 ? kRight : kWrong;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{
      "Compiles a CUDA kernel for the architectures that are named, runs it thread by thread on this machine "
      "in three orders "
      "of threads, and says what is wrong with it: races, missing waits, divergent barriers, accesses "
      "outside of the "
      "arguments, wrong values. No GPU is needed.\n\n"
      "Example: tunesmith-cuda-check sgemm.cu --kernel sgemm --grid 2,2 --block 256 --shared 16640 --arg "
      "A=f32[16384] "
      "--arg B=f32[16384] --arg C=out:f32[65536] --arg M=256 --arg N=256 --arg K=64 --reference gemm_f32.cu "
      "--arch sm_80"};
  Request request;
  app.add_option("FILE", request.file,
                 "CUDA C++; inline PTX only within #ifdef __CUDACC_RTC__, or by tunesmith_device.cuh")
      ->required();
  app.add_option("--kernel", request.kernel, "the kernel, an extern \"C\" __global__ function")->required();
  app.add_option("--grid", request.grid, "blocks: X, X,Y or X,Y,Z");
  app.add_option("--block", request.block, "threads of a block: X, X,Y or X,Y,Z");
  app.add_option("--shared", request.shared_bytes, "bytes of dynamic shared memory");
  app.add_option("--arg", request.arguments,
                 "the kernel's arguments in their order: NAME=TYPE[COUNT] (random; f32, f16, bf16, s32, s8), "
                 "NAME=out:TYPE[COUNT], NAME=NUMBER, NAME=map:BUFFER:EXTENTS:BOX, and "
                 "NAME=hidden:TYPE[COUNT] for a map's buffer")
      ->allow_extra_args(false);
  app.add_option("--reference", request.reference,
                 "C++ with extern \"C\" void reference(...), of the same arguments without maps, which "
                 "writes what is right");
  app.add_option("--tolerance", request.tolerance, "the largest error, of the largest value of an output");
  app.add_option("--arch", request.architectures,
                 "also compile for this one (sm_80, sm_90a, ...), with NVRTC");
  CLI::Option* const architectures = app.get_option("--arch");
  app.add_flag("--compile-only", request.compile_only, "do not run it")->needs(architectures);
  app.add_flag("--main-loop", request.main_loop,
               "also print of what instructions the loop consists in which the kernel multiplies; needs "
               "NVIDIA's disassembler: TUNESMITH_NVDISASM, or nvdisasm in PATH")
      ->needs(architectures);
  app.add_option("--nvrtc-option", request.options, "an option for NVRTC, as it is")->allow_extra_args(false);
  app.add_option(
         "--device", request.device,
         "emulated, or gpu: the one that is here, which takes the time of a launch and checks nothing but "
         "values")
      ->check(CLI::IsMember({"emulated", "gpu"}));
  app.add_option("--seconds", request.seconds, "the most that one order may take");
  app.add_flag("--values-only", request.values_only, "do not check each access: several times as fast");
  try {
    app.parse(count, arguments);
    return check(request);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kRight : kUserError;
  } catch (const UserError& error) {
    std::cerr << "tunesmith-cuda-check: " << error.what() << '\n';
    return kUserError;
  } catch (const EnvironmentError& error) {
    std::cerr << "tunesmith-cuda-check: " << error.what() << '\n';
    return kEnvironmentError;
  }
}
