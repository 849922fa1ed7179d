// A target whose kernels compute O[i] = X[i] + 1, whatever the program says, and do wrong what the program's
// annotation "mistake" says.
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

#include "../../conformance/mistake.h"
#include "helper_thread.h"
#include "mistakes.h"
#include "process_changes.h"

namespace {

using namespace tunesmith;
using test::Helper;
using test::Mistake;

constexpr const char* kReference = "reference";
constexpr const char* kPeak = "peak";
constexpr int64_t kWorkspaceBytes = 64;

int64_t g_elements = 0;  // of the workload; one at a time
int g_varied = 0;        // calls of the kernel that varies
bool g_broken = false;   // by a kernel that was run before
bool g_spoilt = false;   // likewise: what comes after it is wrong
char* volatile g_leak = nullptr;

/// Written to as a wild pointer would; not known to the compiler.
volatile intptr_t g_wild = 16;

[[gnu::noinline]] int overflow_stack(int depth) {
  if (depth < g_wild) return 0;  // never: it begins above
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return overflow_stack(depth + 1) + frame[0];
}

void add_one(const float* x, float* o, int64_t count) {
  for (int64_t i = 0; i < count; ++i) o[i] = x[i] + 1.0f;
}

void run_reference(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  const auto* x = static_cast<const double*>(buffers[0]);
  auto* value = static_cast<double*>(buffers[1]);
  auto* bound = static_cast<double*>(buffers[2]);
  for (int64_t i = 0; i < g_elements; ++i) {
    value[i] = x[i] + 1.0;
    bound[i] = 1e-4;
  }
}

void run_peak(void* const*, void*, tunesmith_parallel_for, void*) {
  volatile float sum = 0.0f;
  for (int i = 0; i < 100'000; ++i) sum = sum + 1.0f;
}

void allocate_without_end(void* (*allocate)(size_t)) {
  for (constexpr size_t kBytes = size_t{1} << 20;;) {
    auto* bytes = static_cast<volatile char*>(allocate(kBytes));
    bytes[0] = 1;  // of each only a page: the address space is what is limited
  }
}

/// What a runtime remembers from call to call.
int g_calls = 0;
const void* g_last_output = nullptr;
std::map<const float*, std::vector<float>> g_kept_inputs;

const float* kept(const float* x, int64_t count) {
  return g_kept_inputs.try_emplace(x, x, x + count).first->second.data();
}

/// At most so many, so that a worker's memory is not exhausted first.
constexpr int kMaxMade = 20;

/// Its call returns before the second half is there.
void add_half_elsewhere(const float* x, float* o, int64_t count) {
  Helper::one().begin([=] { add_one(x + count / 2, o + count / 2, count - count / 2); });
}

std::atomic<float*> g_written_late{nullptr};
std::atomic<float> g_late_value{0.0f};

/// What is written is right, but not any more when it is written.
void write_again_late(const float* x, float* o) {
  g_late_value = x[0] + 1.0f;
  g_written_late = o;
  if (Helper::one().busy()) return;
  Helper::one().begin([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      *static_cast<volatile float*>(g_written_late.load()) = g_late_value;
    }
  });
}

template <Mistake mistake>
void run(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool) {
  auto* x = static_cast<float*>(buffers[0]);
  auto* o = static_cast<float*>(buffers[1]);
  const int64_t n = g_elements;
  if (g_broken) std::abort();
  if (g_spoilt) return;
  ++g_calls;
  const bool same_pointers = std::exchange(g_last_output, o) == o;
  if (mistake == Mistake::SkipsTheSamePointers && same_pointers) return;
  if (mistake == Mistake::SkipsWhatIsDone && o[0] == x[0] + 1.0f && o[n - 1] == x[n - 1] + 1.0f) return;
  if (mistake == Mistake::StopsWriting && g_calls > 4) return;
  if (mistake == Mistake::KeepsAnInputByAddress ||
      (mistake == Mistake::KeepsAnInputAfterFourCalls && g_calls > 4))
    return add_one(kept(x, n), o, n);
  if (mistake == Mistake::ReturnsTooEarly) {
    add_half_elsewhere(x, o, n);
    return add_one(x, o, n / 2);
  }
  add_one(x, o, mistake == Mistake::LeavesOneOut ? n - 1 : n);
  auto* const space = static_cast<volatile char*>(workspace);
  auto* const wild = reinterpret_cast<volatile int*>(g_wild);
  if (test::has_preparation(mistake)) {
    auto* prepared = static_cast<float*>(buffers[2]);
    for (int64_t i = 0; i < n; ++i) o[i] = x[i] + prepared[0];
    if (mistake == Mistake::WritesPrepared) prepared[1] = 1.0f;
  }
  switch (mistake) {
    case Mistake::WrongResult:
      o[n / 2] += 0.01f;
      break;
    case Mistake::VariesFromRunToRun:
      o[n / 2] += 2e-6f * static_cast<float>(++g_varied);  // the first times within the bound
      break;
    case Mistake::WritesBeyond:
      static_cast<volatile float*>(o)[n] = 1.0f;
      break;
    case Mistake::WritesBefore:
      static_cast<volatile float*>(o)[-1] = 1.0f;
      break;
    case Mistake::ReadsBeyond:
      o[0] += 0.0f * static_cast<volatile float*>(x)[n];
      break;
    case Mistake::WritesInput:
      static_cast<volatile float*>(x)[0] = 1.0f;
      break;
    case Mistake::WritesBeyondWorkspace:
      space[kWorkspaceBytes] = 1;
      break;
    case Mistake::WritesBeforeWorkspace:
      space[-1] = 1;
      break;
    case Mistake::Segfaults:
      *wild = 1;
      break;
    case Mistake::SegfaultsInThread:
      parallel_for(
          pool, 64, [](void*, int64_t, int64_t) { *reinterpret_cast<volatile int*>(g_wild) = 1; }, nullptr);
      break;
    case Mistake::OverflowsStack:
      o[0] += 0.0f * static_cast<float>(overflow_stack(17));
      break;
    case Mistake::DividesByZero: {
      const volatile int zero = 0;
      o[0] += 0.0f * static_cast<float>(g_wild / zero);
      break;
    }
    case Mistake::Aborts:
      std::abort();
    case Mistake::Throws:
      throw std::runtime_error("boom in the kernel");
    case Mistake::IllegalInstruction:
      __builtin_trap();
    case Mistake::Endless:
      for (volatile bool go = true; go;) {
      }
      break;
    case Mistake::StopsItself:
      raise(SIGSTOP);
      break;
    case Mistake::AllocatesByNew:
      allocate_without_end([](size_t bytes) { return ::operator new(bytes); });
      break;
    case Mistake::AllocatesByMalloc:
      allocate_without_end(std::malloc);
      break;
    case Mistake::Exits:
      _exit(0);
    case Mistake::KillsItself:
      raise(SIGKILL);
      break;
    case Mistake::WritesToTheSocket: {
      const std::string nonsense(4096, '\xff');
      if (write(3, nonsense.data(), nonsense.size()) < 0) std::abort();
      break;
    }
    case Mistake::ClosesTheSocket:
      close(3);
      raise(SIGSTOP);
      break;
    case Mistake::WritesAgainLate:
      write_again_late(x, o);
      break;
    case Mistake::WritesBeyondLater:
      if (g_calls >= 4) static_cast<volatile float*>(o)[n] = 1.0f;
      break;
    case Mistake::WritesBeyondWorkspaceLater:
      if (g_calls >= 4) space[-1] = 1;
      break;
    case Mistake::LeavesAThreadRunning:
      if (g_calls == 1) test::run_for_ever();
      break;
    case Mistake::StartsAThreadEachCall:
      if (g_calls <= kMaxMade) test::sleep_for_ever();
      break;
    case Mistake::KeepsAPool:
      if (g_calls == 1) test::sleep_for_ever();
      break;
    case Mistake::BlocksSignals:
      test::block_termination();
      break;
    case Mistake::BlocksSignalsInThePool:
      if (pool != nullptr) {
        test::BlockedInThePool blocked;
        parallel_for(pool, 64, test::BlockedInThePool::chunk, &blocked);
      }
      break;
    case Mistake::HandlesFaults:
      std::signal(SIGSEGV, SIG_DFL);
      break;
    case Mistake::OpensAFileEachCall:
      if (g_calls <= kMaxMade) static_cast<void>(open("/dev/null", O_RDONLY));
      break;
    case Mistake::OpensAFileOnce:
      if (g_calls == 1) static_cast<void>(open("/dev/null", O_RDONLY));
      break;
    case Mistake::ClosesAFile:
      if (g_calls == 1) test::close_some_file();
      break;
    case Mistake::RoundsUp:
      test::round_up(nullptr, 0, 1);
      break;
    case Mistake::RoundsUpInThread:
      parallel_for(pool, 64, test::round_up, nullptr);
      break;
#if defined(__x86_64__)
    case Mistake::FlushesSubnormals:
      test::change_vector_control(0x8040);
      break;
    case Mistake::Traps:
      test::change_vector_control(0x80);  // of invalid operations
      break;
    case Mistake::LowersPrecision:
      test::lower_precision();
      break;
#endif
    case Mistake::Prints:
      std::puts("a candidate prints");
      std::fflush(stdout);
      break;
    default:
      break;
  }
}

template <Mistake mistake>
void prepare(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  auto* prepared = static_cast<volatile float*>(buffers[2]);
  if (mistake != Mistake::ForgetsToPrepare) prepared[0] = 1.0f;
  if (mistake == Mistake::PreparesBeyond) prepared[test::kPreparedNumbers] = 1.0f;
  if (mistake == Mistake::PreparesAnOutput) static_cast<volatile float*>(buffers[1])[0] = 1.0f;
}

template <size_t... numbers>
constexpr std::array<tunesmith_kernel, sizeof...(numbers)> all_preparations(std::index_sequence<numbers...>) {
  return {&prepare<static_cast<Mistake>(numbers)>...};
}
constexpr auto kPreparations =
    all_preparations(std::make_index_sequence<static_cast<size_t>(Mistake::Count)>());

/// A kernel that adds what was prepared rather than one needs a step for it.
CompiledKernel with_step(CompiledKernel kernel, Mistake mistake) {
  if (test::has_preparation(mistake))
    kernel.prepare = PrepareStep{"prepare", test::kPreparedNumbers * int64_t{sizeof(float)}, {}, {}};
  return kernel;
}

template <size_t... numbers>
constexpr std::array<tunesmith_kernel, sizeof...(numbers)> all_kernels(std::index_sequence<numbers...>) {
  return {&run<static_cast<Mistake>(numbers)>...};
}
constexpr auto kKernels = all_kernels(std::make_index_sequence<static_cast<size_t>(Mistake::Count)>());

class FaultyKernel final : public LoadedKernel {
 public:
  FaultyKernel(tunesmith_kernel kernel, Mistake mistake) : kernel_(kernel), mistake_(mistake) {}
  // After everything that is looked at: what dies of it is the next one.
  ~FaultyKernel() override {
    if (mistake_ == Mistake::BreaksTheNext) g_broken = true;
    if (mistake_ == Mistake::SpoilsTheNext) g_spoilt = true;
    if (mistake_ == Mistake::LeaksMemory) g_leak = static_cast<char*>(std::malloc(size_t{200} << 20));
  }
  tunesmith_kernel entry() const override {
    throw_if(Mistake::ThrowsInEntry);
    return kernel_;
  }
  tunesmith_kernel prepare() const override {
    throw_if(Mistake::ThrowsInPrepare);
    return kPreparations.at(static_cast<size_t>(mistake_));
  }
  std::optional<KernelFault> take_fault() override {
    throw_if(Mistake::ThrowsInTakeFault);
    return std::nullopt;
  }
  std::optional<double> modelled_seconds() const override {
    throw_if(Mistake::ThrowsInModelledSeconds);
    return mistake_ == Mistake::ModelsNoTime ? std::optional(std::nan("")) : std::nullopt;
  }
  std::optional<double> device_seconds(int, void* const*, void*) override {
    throw_if(Mistake::ThrowsInDeviceSeconds);
    return std::nullopt;
  }

 private:
  void throw_if(Mistake mistake) const {
    if (mistake_ == mistake) throw std::runtime_error("boom in a loaded kernel");
  }

  tunesmith_kernel kernel_;
  Mistake mistake_;
};

class FaultyTarget final : public Target {
 public:
  explicit FaultyTarget(const Options& options) : crash_every_(options.get_int("crash_every")) {
    for (const char* name : {"vector_bits", "vector_registers", "cores"}) device_.set(name, 4);
  }
  ProbeResult probe() const override {
    misbehave("probe");
    return {};
  }
  const DeviceModel& device() const override { return device_; }
  std::string fingerprint() const override { return "1"; }
  std::string identity() const override { return "faulty"; }
  LowerOptions lower_options() const override { return {}; }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    misbehave("compile");
    const Program& program = lowered.program;
    const int64_t elements = program.inputs.at(0)->elements();
    if (program.inputs.front()->dtype == kF64) {
      return CompiledKernel{fmt::format("{} {}", kReference, elements), symbol, 0, 1e-3};
    }
    const auto annotation = program.annotations.find("mistake");
    const auto number = annotation == program.annotations.end() ? 0 : std::get<int64_t>(annotation->second);
    if (crash_every_ > 0) {
      const bool crashes = number > 0 && number % crash_every_ == 0;
      const auto chosen = static_cast<size_t>(crashes ? Mistake::Segfaults : Mistake::None);
      return CompiledKernel{fmt::format("{} {}", chosen, elements), symbol, kWorkspaceBytes, 1e-3};
    }
    const auto mistake = static_cast<Mistake>(number);
    if (mistake == Mistake::DoesNotCompile) return tl::make_unexpected(std::string("a mistake"));
    const int64_t workspace = mistake == Mistake::HugeWorkspace ? int64_t{1} << 40 : kWorkspaceBytes;
    return with_step({fmt::format("{} {}", number, elements), symbol, workspace, 1e-3}, mistake);
  }

  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override {
    const std::string what = kernel.object.substr(0, kernel.object.find(' '));
    if (what == kPeak) return std::make_unique<FaultyKernel>(run_peak, Mistake::None);
    g_elements = std::stoll(kernel.object.substr(what.size()));
    if (what == kReference) return std::make_unique<FaultyKernel>(run_reference, Mistake::None);
    const auto mistake = static_cast<Mistake>(std::stoul(what));
    g_calls = 0;
    g_last_output = nullptr;
    g_kept_inputs.clear();
    if (mistake == Mistake::DoesNotLoad) throw EnvironmentError("the object is damaged");
    if (mistake == Mistake::ThrowsInLoad) throw std::runtime_error("boom in load");
    return std::make_unique<FaultyKernel>(kKernels.at(static_cast<size_t>(mistake)), mistake);
  }

  std::string assembly(const LoweredProgram&, const std::string&) override { return ""; }
  LibraryFiles build_library(const LibraryRequest&) override {
    throw EnvironmentError("builds no libraries");
  }
  PeakKernel peak_kernel(DType, int) override {
    misbehave("peak_kernel");
    return {{kPeak, "peak", 0, 0.0}, 1e5};
  }
  double measure_copy_bandwidth(int) override { return 1e9; }

 private:
  DeviceModel device_;
  int64_t crash_every_;
};

}  // namespace

TUNESMITH_PLUGIN(
    FaultyTarget, PluginKind::Target, "faulty", "1.0.0", "runs candidates that are wrong on purpose",
    OptionSpec::integer("crash_every", 0, 0, 1000,
                        "programs between two that crash, all others being right; 0 = as annotated"));
