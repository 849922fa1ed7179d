#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <sys/mman.h>

#include "llvm_target.h"
#include "module_emitter.h"
#include "peak_kernel.h"
#include "tunesmith/runtime/pool.h"

namespace tunesmith::llvm_target {

namespace {

constexpr const char* kSymbol = "tunesmith_peak";
constexpr int64_t kIterations = 160000;  // about half a millisecond
/// Long enough to include an undisturbed moment at the processor's full clock.
constexpr double kMeasuringSeconds = 0.2;
constexpr int kMinRepeats = 5;
constexpr int64_t kLargestCopy = int64_t{256} << 20;

using Pool = std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)>;

/// The shortest run in seconds. The first runs also bring the processor to its clock.
double shortest_run(const LoadedKernel& kernel, void* const* buffers, int threads) {
  const Pool pool(tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy);
  // The peak kernel counts on one chunk for each thread.
  if (!pool || tunesmith_runtime_pool_threads(pool.get()) != threads) {
    throw EnvironmentError(fmt::format("{} threads cannot be started", threads));
  }
  double best = std::numeric_limits<double>::infinity();
  double total = 0.0;
  for (int i = 0; i < kMinRepeats || total < kMeasuringSeconds; ++i) {
    const auto started = std::chrono::steady_clock::now();
    kernel.entry()(buffers, nullptr, tunesmith_runtime_parallel_for, pool.get());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

/// Zeroed pages of this process's own.
class Pages {
 public:
  explicit Pages(int64_t bytes)
      : bytes_(static_cast<size_t>(bytes)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
                   0)) {
    if (data_ == MAP_FAILED) throw EnvironmentError(fmt::format("no memory for a buffer of {} bytes", bytes));
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const { return data_; }

 private:
  size_t bytes_;
  void* data_;
};

/// out[i] = in[i], whole vectors, one contiguous piece a thread.
LoweredProgram copy_program(int64_t elements, int64_t pieces, int lanes) {
  constexpr int64_t kUnroll = 4;
  const int64_t step = lanes * kUnroll;
  const int64_t steps = elements / pieces / step;
  LoweredProgram lowered;
  Program& program = lowered.program;
  const Buffer in = make_buffer("in", kF32, {elements}), out = make_buffer("out", kF32, {elements});
  program.inputs = {in};
  program.outputs = {out};
  const Var piece("piece"), i("i"), u("u");
  const Expr index = ramp((piece * steps + i) * step + u * lanes, 1, lanes);
  StmtPtr store = std::make_unique<Store>(out, std::vector<Expr>{index}, load(in, {index}));
  auto unrolled = program.make_loop(u, kUnroll, std::move(store));
  unrolled->loop_kind = LoopKind::Unrolled;
  auto parallel = program.make_loop(piece, pieces, program.make_loop(i, steps, std::move(unrolled)));
  parallel->loop_kind = LoopKind::Parallel;
  program.root().append(std::move(parallel));
  return lowered;
}

}  // namespace

PeakKernel LlvmTarget::peak_kernel(DType type, int threads) {
  const PeakOperation operation = peak_operation(type.scalar(), machine_);
  // Enough to keep two units busy despite their latency; the other registers hold the operands.
  const int accumulators = static_cast<int>(std::min<int64_t>(24, machine_.vector_registers - 4));
  const auto object = compilers_.compile(
      [&](llvm::LLVMContext& context, const CodegenTraits& traits) {
        auto module = emit_peak_kernel(context, kSymbol, operation, accumulators, kIterations, threads);
        set_function_attributes(*module, traits);
        return module;
      },
      OutputKind::Object);
  if (!object) throw EnvironmentError(fmt::format("the peak kernel cannot be compiled: {}", object.error()));
  return {{*object, kSymbol, int64_t{64} * threads, 0.0},
          operation.operations * accumulators * static_cast<double>(kIterations) * threads};
}

double LlvmTarget::measure_copy_bandwidth(int threads) {
  const auto l3 = static_cast<int64_t>(machine_.device.get("l3_bytes"));
  const int lanes = static_cast<int>(machine_.vector_bits / 32);
  const int64_t bytes = std::clamp<int64_t>(4 * l3, int64_t{64} << 20, kLargestCopy);
  const int64_t granule = int64_t{threads} * lanes * 16;
  const int64_t elements = bytes / 4 / granule * granule;
  const auto compiled = compile(copy_program(elements, threads, lanes), kSymbol);
  if (!compiled)
    throw EnvironmentError(fmt::format("the copy kernel cannot be compiled: {}", compiled.error()));
  const auto kernel = load(*compiled);
  const Pages in(elements * 4), out(elements * 4);
  void* const buffers[] = {in.data(), out.data()};
  return 2.0 * 4.0 * static_cast<double>(elements) / shortest_run(*kernel, buffers, threads);
}

}  // namespace tunesmith::llvm_target
