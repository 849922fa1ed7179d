// A target that "compiles" a program by keeping it, and "runs" it with the interpreter; by
// TUNESMITH_TEST_MISTAKE with a mistake. A kernel holds the program's number, so it only works in the process
// that compiled it.
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/packaging.h>
#include <tunesmith/target/target.h>
#include <tunesmith/verification/interpreter.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::mutex mutex;
std::vector<Program> programs;
std::atomic<int> inside;
std::atomic<int> objects;
const Program* running = nullptr;

extern "C" void run_by_interpreter(void* const* buffers, void* /*workspace*/, tunesmith_parallel_for /*loop*/,
                                   void* /*pool*/) {
  std::vector<Tensor> arguments;
  size_t at = 0;
  const auto copy_in = [&](const Buffer& buffer) {
    arguments.push_back(Tensor::like(*buffer));
    std::copy_n(static_cast<const std::byte*>(buffers[at++]), arguments.back().bytes.size(),
                arguments.back().bytes.data());
  };
  for (const Buffer& input : running->inputs) copy_in(input);
  for (const Buffer& output : running->outputs) copy_in(output);
  interpret(*running, arguments, {.check_races = false, .check_uninitialized = false});
  if (mistake("wrong_result")) arguments.back().set(0, arguments.back().get(0) + 1.0);
  for (size_t i = running->inputs.size(); i < arguments.size(); ++i) {
    std::copy_n(arguments[i].bytes.data(), arguments[i].bytes.size(), static_cast<std::byte*>(buffers[i]));
  }
}

class Kernel final : public LoadedKernel {
 public:
  explicit Kernel(size_t number) { running = programs.empty() ? nullptr : &programs.at(number); }
  tunesmith_kernel entry() const override { return &run_by_interpreter; }
};

class BadTarget final : public Target, public Packaging {
 public:
  BadTarget() {
    device_.set("cores", mistake("no_cores") ? 0 : 1);
    device_.set("vector_bits", 128);
    if (mistake("nan_quantity")) device_.set("hope", std::numeric_limits<double>::quiet_NaN());
    if (mistake("objects_differ")) device_.set("number", objects++);
  }
  ProbeResult probe() const override { return {mistake("not_here") ? "the flux unit" : ""}; }
  const DeviceModel& device() const override { return device_; }
  std::string fingerprint() const override { return "1"; }
  std::string identity() const override { return "bad_target"; }
  LowerOptions lower_options() const override { return {}; }
  bool can_prepare() const override { return mistake("promises_to_prepare"); }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    const bool alone = inside++ == 0;
    if (mistake("shares_state")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --inside;
    if (mistake("shares_state") && !alone) return tl::make_unexpected(std::string("compiling already"));
    if (mistake("compiles_nothing")) return tl::make_unexpected(std::string("no compiler"));
    if (mistake("compiles_some") && lowered.program.inputs.size() > 1)
      return tl::make_unexpected(std::string("too much"));
    const std::lock_guard lock(mutex);
    programs.reserve(1000);  // `running` points into it
    programs.push_back(lowered.program.clone());
    return CompiledKernel{"program " + std::to_string(programs.size() - 1), symbol, 0, 0.0};
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override {
    const bool damaged = !kernel.object.starts_with("program ");
    if (damaged && mistake("throws_at_damage")) throw std::out_of_range("at");
    if (damaged && !mistake("loads_damage")) throw EnvironmentError("the object is damaged");
    return std::make_unique<Kernel>(damaged ? 0 : std::stoul(kernel.object.substr(8)));
  }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& symbol) override {
    return symbol;
  }
  Packaging* packaging() override { return this; }
  LibraryFiles build_library(const LibraryRequest& request) override {
    const LibraryFiles files{request.directory + "/lib" + request.name + ".so",
                             request.directory + "/" + request.name + ".h"};
    if (mistake("writes_no_library")) return files;
    std::ofstream(files.library) << "library";
    std::ofstream(files.header) << "header";
    return files;
  }

 private:
  DeviceModel device_;
};

}  // namespace

TUNESMITH_PLUGIN(BadTarget, PluginKind::Target, "bad_target", "1.0.0",
                 "makes the mistake that it is asked for");
