#include <cstring>
#include <limits>
#include <map>

#include <sys/mman.h>
#include <unistd.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::testing {

namespace {

constexpr int kGap = 0x5a;

/// A copy of a tensor's elements in a buffer's layout, adjacent to one of two inaccessible pages.
class GuardedBytes {
 public:
  GuardedBytes(const Buffer& buffer, const Tensor& tensor, bool at_end)
      : buffer_(buffer), size_(static_cast<size_t>(buffer->bytes())) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (size_ + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    map_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(map_ + page, inner, PROT_READ | PROT_WRITE);
    data_ = map_ + page + (at_end ? inner - size_ : 0);
    std::memset(data_, kGap, size_);
    store_in(*buffer_, tensor, reinterpret_cast<std::byte*>(data_));
  }
  ~GuardedBytes() { munmap(map_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  void* data() const { return data_; }
  void copy_to(Tensor& tensor) const {
    tensor = load_from(*buffer_, reinterpret_cast<const std::byte*>(data_));
    std::vector<char> wanted(size_, kGap);
    store_in(*buffer_, tensor, reinterpret_cast<std::byte*>(wanted.data()));
    if (std::memcmp(wanted.data(), data_, size_) != 0)
      throw Error("it writes between the elements of " + buffer_->name);
  }

 private:
  Buffer buffer_;
  size_t size_;
  size_t mapped_;
  char* map_;
  char* data_;
};

/// Runs share a pool for each number of threads: starting threads costs as much as a small program.
tunesmith_runtime_pool* pool_of(int threads) {
  using Pool = std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)>;
  static std::map<int, Pool> pools;
  const auto [entry, fresh] = pools.try_emplace(threads, nullptr, tunesmith_runtime_pool_destroy);
  if (fresh) entry->second.reset(tunesmith_runtime_pool_create(threads));
  return entry->second.get();
}

std::vector<Tensor> run_once(const LoadedKernel& kernel, int64_t workspace_bytes, const Program& program,
                             std::vector<int64_t>* parameters, const std::vector<Tensor>& arguments,
                             tunesmith_runtime_pool* pool, bool at_end) {
  std::vector<Buffer> of = program.inputs;
  of.insert(of.end(), program.outputs.begin(), program.outputs.end());
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  std::vector<void*> buffers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    memory.push_back(std::make_unique<GuardedBytes>(of.at(i), arguments[i], at_end));
    buffers.push_back(memory.back()->data());
  }
  if (parameters != nullptr) buffers.push_back(parameters->data());
  const Buffer room = make_buffer("workspace", kU8, {workspace_bytes + 1});
  const GuardedBytes workspace(room, Tensor::like(*room), /*at_end=*/false);
  kernel.entry()(buffers.data(), workspace.data(), tunesmith_runtime_parallel_for, pool);
  std::vector<Tensor> result(arguments);
  for (size_t i = 0; i < result.size(); ++i) memory[i]->copy_to(result[i]);
  return result;
}

}  // namespace

std::vector<Tensor> run_guarded_at(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                   const Program& fixed, std::vector<int64_t> values,
                                   const std::vector<Tensor>& arguments, int threads) {
  const auto compiled = target.compile(lowered, "kernel");
  if (!compiled) throw Error(compiled.error());
  const auto kernel = target.load(*compiled);
  tunesmith_runtime_pool* pool = pool_of(threads);
  std::vector<int64_t>* const given = lowered.program.parameters.empty() ? nullptr : &values;
  const auto run = [&](bool at_end) {
    return run_once(*kernel, lowered.workspace_bytes, fixed, given, arguments, pool, at_end);
  };
  const auto result = run(/*at_end=*/true);
  if (const auto fault = kernel->take_fault()) throw Error(fault->message);
  if (run(/*at_end=*/false) != result) throw Error("the result depends on where the buffers lie");
  return result;
}

std::vector<Tensor> run_guarded(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                const std::vector<Tensor>& arguments, int threads) {
  return run_guarded_at(target, lowered, lowered.program, {}, arguments, threads);
}

double error_against_interpreter(llvm_target::LlvmTarget& target, const LoweredProgram& lowered,
                                 int threads) {
  std::vector<Tensor> expected = test::random_arguments(lowered.program);
  const std::vector<Tensor> got = run_guarded(target, lowered, expected, threads);
  InterpretOptions options;
  options.check_uninitialized = false;
  interpret(lowered.program, expected, options);
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, max_error(got[i], expected[i]));
  return worst;
}

}  // namespace tunesmith::testing
