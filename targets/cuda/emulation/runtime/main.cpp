// The main program to which kernel text is linked: runs one launch, on buffers shared with its parent, and
// reports.
//   --grid=X,Y,Z --block=X,Y,Z --shared=BYTES --order=forward|backward|random --in-turn=0|1 --seed=N
//   --check=0|1 --granules=SHARED,GLOBAL --memory=DESCRIPTOR --seconds=PROCESSOR_TIME
//   --kernel=NAME                 if the text has several
// and the kernel's arguments in order:
//   --buffer=NAME:OFFSET:BYTES    a pointer to bytes of the descriptor's memory
//   --input=NAME:OFFSET:BYTES     the same, which the kernel may not write
//   --hidden=NAME:OFFSET:BYTES    the same as an input, but no argument
//   --value=HEX                   the bytes of a number
//   --map=BUFFER:RANK:E,E,E,E:S,S,S,S:B,B,B,B    a TensorMap of a buffer of 16-bit elements: extents, strides
//   in
//                                 elements, and box, innermost dimension first; 0 beyond the rank
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace {

using namespace tunesmith_emulation;

constexpr size_t kPage = 4096;
constexpr size_t kGuard = size_t(1) << 20;
constexpr unsigned kMaxGrid[] = {0x7fffffff, 65535, 65535}, kMaxBlock[] = {1024, 1024, 64};
/// Static and dynamic together, of any architecture.
constexpr size_t kMaxShared = size_t(227) << 10;

struct Buffer {
  std::string name;
  char* low;
  size_t bytes;
  bool read_only;  // for the kernel

  bool contains(const void* address) const { return address >= low && address < low + bytes; }
};

struct Launch {
  Order order = Order::Forward;
  unsigned long long seed = 0, dynamic_bytes = 0;
  unsigned in_turn = 0, check = 0, shared_granule = 16, global_granule = 16;
  int memory = -1;
  const KernelEntry* kernel = tunesmith_kernel_entries;
  // Each argument's bytes, aligned as the strictest of them.
  struct alignas(64) Value {
    char bytes[128];
    unsigned size;
    int buffer = -1;  // that it points to
  };
  std::vector<Value> values;
};

std::vector<Buffer> buffers;  // of the launch; what a signal's handler looks at

template <class... Fields>
void scan(const std::string& text, const char* format, int fields, Fields*... values) {
  if (std::sscanf(text.c_str(), format, values...) != fields)
    report_and_stop(Kind::BadLaunch, "'%s': expected %s", text.c_str(), format);
}

// Maps the buffer's pages of the parent's file between guard pages; the buffer ends where its last page ends.
char* map_buffer(int memory, size_t offset, size_t bytes) {
  const size_t first_page = offset / kPage * kPage,
               length = (offset + bytes - first_page + kPage - 1) / kPage * kPage;
  char* reserved = static_cast<char*>(
      mmap(nullptr, length + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (reserved == MAP_FAILED || mmap(reserved + kGuard, length, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_FIXED, memory, off_t(first_page)) == MAP_FAILED)
    report_and_stop(Kind::BadLaunch, "no memory for a buffer of %zu bytes", bytes);
  return reserved + kGuard + (offset - first_page);
}

Launch::Value value_of(const void* bytes, size_t size) {
  Launch::Value value{};
  if (size > sizeof value.bytes) report_and_stop(Kind::BadLaunch, "an argument of %zu bytes", size);
  std::memcpy(value.bytes, bytes, size);
  value.size = unsigned(size);
  return value;
}

enum class Use { Argument, Input, Hidden };

void add_buffer(Launch& launch, const std::string& text, Use use) {
  const size_t colon = text.find(':');
  unsigned long long offset = 0, bytes = 0;
  scan(text.substr(colon + 1), "%llu:%llu", 2, &offset, &bytes);
  buffers.push_back(
      {text.substr(0, colon), map_buffer(launch.memory, offset, bytes), bytes, use != Use::Argument});
  watch_buffer(buffers.back().name, buffers.back().low, bytes);
  if (use == Use::Hidden) return;
  launch.values.push_back(value_of(static_cast<const void*>(&buffers.back().low), sizeof(char*)));
  launch.values.back().buffer = int(buffers.size()) - 1;
}

void add_value(Launch& launch, const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  launch.values.push_back(value_of(bytes.data(), bytes.size()));
}

void add_map(Launch& launch, const std::string& text) {
  const size_t colon = text.find(':');
  TensorMap map{};
  unsigned strides[4] = {};
  scan(text.substr(colon + 1), "%u:%u,%u,%u,%u:%u,%u,%u,%u:%u,%u,%u,%u", 13, &map.rank, &map.extent[0],
       &map.extent[1], &map.extent[2], &map.extent[3], &strides[0], &strides[1], &strides[2], &strides[3],
       &map.box[0], &map.box[1], &map.box[2], &map.box[3]);
  for (const Buffer& buffer : buffers)
    if (buffer.name == text.substr(0, colon)) map.base = buffer.low;
  for (unsigned d = 0; d < 4; ++d) {
    map.stride[d] = 2ull * strides[d];
    if (d >= map.rank) map.extent[d] = map.box[d] = 1;
    if (d > 0 && map.stride[d] % 16 != 0)
      report_and_stop(Kind::BadLaunch, "a map of rows of %llu bytes, which must be a multiple of 16",
                      map.stride[d]);
  }
  launch.values.push_back(value_of(&map, sizeof map));
}

void read_option(Launch& launch, std::string_view name, const std::string& value) {
  if (name == "--grid") return scan(value, "%u,%u,%u", 3, &grid_shape.x, &grid_shape.y, &grid_shape.z);
  if (name == "--block") return scan(value, "%u,%u,%u", 3, &block_shape.x, &block_shape.y, &block_shape.z);
  if (name == "--shared") return scan(value, "%llu", 1, &launch.dynamic_bytes);
  if (name == "--seed") return scan(value, "%llu", 1, &launch.seed);
  if (name == "--in-turn") return scan(value, "%u", 1, &launch.in_turn);
  if (name == "--check") return scan(value, "%u", 1, &launch.check);
  if (name == "--granules") return scan(value, "%u,%u", 2, &launch.shared_granule, &launch.global_granule);
  if (name == "--seconds") {  // should the parent be gone
    rlimit limit{};
    scan(value, "%lu", 1, &limit.rlim_cur);
    limit.rlim_max = limit.rlim_cur;
    setrlimit(RLIMIT_CPU, &limit);
    return;
  }
  if (name == "--kernel") {
    const KernelEntry* const end = tunesmith_kernel_entries + tunesmith_kernel_count;
    launch.kernel = std::find_if(tunesmith_kernel_entries, end,
                                 [&](const KernelEntry& kernel) { return kernel.name == value; });
    if (launch.kernel == end) report_and_stop(Kind::BadLaunch, "there is no kernel '%s'", value.c_str());
    return;
  }
  if (name == "--memory") return scan(value, "%d", 1, &launch.memory);
  if (name == "--order") {
    launch.order = value == "forward"    ? Order::Forward
                   : value == "backward" ? Order::Backward
                                         : Order::Random;
    return;
  }
  if (name == "--buffer") return add_buffer(launch, value, Use::Argument);
  if (name == "--input") return add_buffer(launch, value, Use::Input);
  if (name == "--hidden") return add_buffer(launch, value, Use::Hidden);
  if (name == "--value") return add_value(launch, value);
  if (name == "--map") return add_map(launch, value);
  report_and_stop(Kind::BadLaunch, "an unknown option");
}

[[noreturn]] void on_fault(int signal, siginfo_t* info, void*) {
  char place[128];
  describe_address(info->si_addr, place, sizeof place);
  if (machine.running == nullptr) report_and_stop(Kind::Fault, "signal %d before the kernel began", signal);
  const Index& thread = running().index;
  for (const Buffer& buffer : buffers) {
    if (buffer.read_only && signal == SIGSEGV && buffer.contains(info->si_addr))
      report_and_stop(Kind::Fault, "thread (%u, %u, %u) of block (%u, %u, %u) stores to the input %s, at %s",
                      thread.x, thread.y, thread.z, block_index.x, block_index.y, block_index.z,
                      buffer.name.c_str(), place);
  }
  // A device computes an undefined result, as for a shift by too many bits.
  if (signal == SIGFPE)
    report_and_stop(Kind::BadOperand, "a division by zero in thread (%u, %u, %u) of block (%u, %u, %u)",
                    thread.x, thread.y, thread.z, block_index.x, block_index.y, block_index.z);
  // For an access that is not aligned for its type the signal reports no address.
  report_and_stop(Kind::Fault,
                  "an invalid or misaligned access in thread (%u, %u, %u) of block (%u, %u, %u), at %s",
                  thread.x, thread.y, thread.z, block_index.x, block_index.y, block_index.z, place);
}

void catch_faults() {
  static char stack[65536];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

void check_shape(const KernelEntry& kernel) {
  const unsigned grid[] = {grid_shape.x, grid_shape.y, grid_shape.z};
  const unsigned block[] = {block_shape.x, block_shape.y, block_shape.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] > kMaxGrid[i])
      report_and_stop(Kind::BadLaunch, "a grid of %u blocks in dimension %d: 1 to %u", grid[i], i,
                      kMaxGrid[i]);
    if (block[i] == 0 || block[i] > kMaxBlock[i])
      report_and_stop(Kind::BadLaunch, "a block of %u threads in dimension %d: 1 to %u", block[i], i,
                      kMaxBlock[i]);
  }
  const unsigned long long threads = 1ull * block_shape.x * block_shape.y * block_shape.z;
  if (threads > kMaxThreads) report_and_stop(Kind::BadLaunch, "a block of %llu threads", threads);
  if (kernel.max_threads > 0 && threads > kernel.max_threads)
    report_and_stop(Kind::BadLaunch, "a block of %llu threads, and __launch_bounds__ says %u at most",
                    threads, kernel.max_threads);
}

void check_launch(const Launch& launch) {
  const KernelEntry& kernel = *launch.kernel;
  check_shape(kernel);
  if (launch.dynamic_bytes > kMaxShared)
    report_and_stop(Kind::BadLaunch, "%llu bytes of dynamic shared memory, at most %zu on any architecture",
                    launch.dynamic_bytes, kMaxShared);
  if (launch.values.size() != kernel.parameters)
    report_and_stop(Kind::BadLaunch, "the kernel has %u parameters, and %zu arguments are given",
                    kernel.parameters, launch.values.size());
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    if (launch.values[i].size != kernel.parameter_bytes[i])
      report_and_stop(Kind::BadLaunch, "parameter %u has %u bytes, and its argument %u", i,
                      kernel.parameter_bytes[i], launch.values[i].size);
  }
}

/// A buffer is an input if the parent or the parameter's type says so.
void protect_inputs(const Launch& launch) {
  for (unsigned i = 0; i < launch.kernel->parameters; ++i)
    if (launch.values[i].buffer >= 0 && launch.kernel->reads_only[i])
      buffers[size_t(launch.values[i].buffer)].read_only = true;
  for (const Buffer& buffer : buffers) {
    if (!buffer.read_only || buffer.bytes == 0) continue;
    char* const page = buffer.low - reinterpret_cast<uintptr_t>(buffer.low) % kPage;
    mprotect(page, size_t(buffer.low + buffer.bytes - page), PROT_READ);
  }
}

}  // namespace

int main(int count, char** arguments) {
  // A killed parent needs no result.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Launch launch;
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      report_and_stop(Kind::BadLaunch, "'%s': expected --NAME=VALUE", arguments[i]);
    read_option(launch, std::string_view(text).substr(0, equals), text.substr(equals + 1));
  }
  catch_faults();
  check_launch(launch);
  protect_inputs(launch);
  find_shared_memory(launch.dynamic_bytes);
  std::vector<void*> pointers;
  for (Launch::Value& value : launch.values) pointers.push_back(value.bytes);
  make_threads();
  if (launch.check != 0) start_checks(launch.shared_granule, launch.global_granule);
  run_blocks(*launch.kernel, launch.order, launch.in_turn != 0, launch.seed, pointers.data());
  report_counter("switches", machine.switches);
  report_counter("only_barriers", machine.only_barriers ? 1 : 0);
  report_accesses();
  finish_report();
}
