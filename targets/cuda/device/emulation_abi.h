// The emulation's runtime (../emulation) as compiled kernel text calls it. Every kernel text includes this,
// so it includes nothing itself.
//
// `line` is the line in the kernel's text. It tells calls apart: a collective's threads must be at one line.
#pragma once

namespace tunesmith_emulation {

struct Index {
  unsigned x = 1, y = 1, z = 1;
};

/// The running thread's index in its block.
extern const Index* thread_index;
extern Index block_index, block_shape, grid_shape;

/// How the runtime calls a kernel; the launcher in kernel_launcher.h defines it.
struct KernelEntry {
  const char* name;
  /// `arguments[i]` points to the value of parameter i.
  void (*call)(void* const* arguments);
  unsigned parameters;
  const unsigned* parameter_bytes;
  /// Is parameter i a pointer that the kernel may only read through?
  const bool* reads_only;
  /// The maximum number of threads of a block by __launch_bounds__; 0: not given.
  unsigned max_threads;
};

/// Converts between an address in shared memory and the 32 bits that instructions take.
unsigned shared_address(const void* pointer);
void* shared_pointer(unsigned address);

void block_barrier(const void* site, int line);
void warp_barrier(unsigned mask, int line);
/// bar.sync: `threads` threads of the block meet, at one of the barriers 1 to 15.
void group_barrier(unsigned number, unsigned threads, int line);
void memory_fence();

enum class Shuffle { Index, Up, Down, Xor };
unsigned long long shuffle(unsigned mask, unsigned long long value, Shuffle kind, int operand, int width,
                           int line);
/// One bit for each lane of `mask` whose `predicate` holds.
unsigned vote(unsigned mask, bool predicate, int line);

float atomic_add(float* to, float value);
int atomic_add(int* to, int value);
unsigned atomic_add(unsigned* to, unsigned value);
int atomic_max(int* to, int value);
int atomic_min(int* to, int value);
unsigned atomic_exchange(unsigned* to, unsigned value);
unsigned atomic_compare_and_swap(unsigned* to, unsigned expected, unsigned value);

/// Notes that a read uses the read-only path: nothing may write there while the kernel runs.
void read_by_read_only_path(const void* address, unsigned bytes, int line);

/// Copies `source_bytes`, then zeros up to `bytes`. The copy happens when its group is waited for, or earlier
/// in a random order.
void copy_async(void* shared, const void* global, unsigned bytes, unsigned source_bytes, int line);
void commit_copies();
/// Waits until at most `groups` of the committed groups are unfinished.
void wait_for_copies(unsigned groups);

/// ldmatrix: `count` is 1, 2 or 4 matrices of 8 rows of 16 bytes.
void load_matrices(unsigned* registers, const void* row, unsigned count, bool transposed, int line);

/// mma.sync: the shape and the types of the operands. Accumulators are f32, and s32 for S8.
enum class Product { F16m16n8k8, F16m16n8k16, Bf16m16n8k16, Tf32m16n8k8, S8m16n8k16, S8m16n8k32 };
void multiply(Product product, void* accumulators, const unsigned* a, const unsigned* b, int line);

/// wmma 16x16x16, whose fragments are opaque: a thread may not know which elements it holds.
enum class FragmentType { F16, Bf16, S8 };
void load_fragment(FragmentType type, unsigned* registers, const void* memory, unsigned stride, bool column,
                   int line);
void multiply_fragments(FragmentType type, void* accumulators, const unsigned* a, const unsigned* b,
                        bool a_column, bool b_column, int line);
void load_accumulators(void* accumulators, const void* memory, unsigned stride, bool column, int line);
void store_accumulators(void* memory, const void* accumulators, unsigned stride, bool column, int line);

/// wgmma m64 n`columns` k16 of f16 or bf16 with f32 accumulators; a and b are matrix descriptors, whose rows
/// run along k or not. The product is formed when its group is waited for.
void multiply_group(float* accumulators, unsigned columns, unsigned long long a, unsigned long long b,
                    bool a_column_major, bool b_row_major, bool accumulate, bool bf16, int line);
/// wgmma.fence: orders this thread's accesses of registers before the products that it issues.
void fence_products();
void commit_products();
void wait_for_products(unsigned groups, int line);
/// fence.proxy.async: orders this thread's writes to shared memory before reads by the asynchronous proxy.
void fence_async_proxy();

/// setmaxnreg: the threads of a warpgroup have `count` registers from here on.
void move_registers(unsigned count, bool up, int line);

void init_mbarrier(void* barrier, unsigned count);
/// fence.mbarrier_init: makes this thread's initialised barriers visible to copies.
void fence_mbarriers();
void arrive_mbarrier(void* barrier, unsigned expected_bytes);
void wait_mbarrier(void* barrier, unsigned parity, int line);

/// A tensor that boxes are copied from: up to four dimensions, the innermost first, strides in bytes, 16-bit
/// elements, 128-byte swizzle; beyond its rank a dimension has one element. Has the size and alignment of the
/// driver's CUtensorMap, so that kernels have one parameter list.
struct alignas(64) TensorMap {
  const char* base;
  unsigned long long stride[4];
  unsigned extent[4], box[4], rank;
  unsigned char unused[52];
};
static_assert(sizeof(TensorMap) == 128, "as large as CUtensorMap");
/// The position of a box's first element, the innermost index first.
struct BoxPosition {
  int index[4];
};
void copy_box(void* shared, const TensorMap* map, unsigned rank, BoxPosition first, void* barrier, int line);

}  // namespace tunesmith_emulation

/// The kernels of the program.
extern "C" const tunesmith_emulation::KernelEntry tunesmith_kernel_entries[];
extern "C" const unsigned tunesmith_kernel_count;
