// Calls a kernel for AArch64 Linux without a C library. Standard input: the number of buffers, the size of
// the workspace, the buffers' sizes (64-bit each), then the buffers' bytes. Standard output: the buffers'
// bytes after the call.
#include <stddef.h>
#include <stdint.h>

#include "kernel_abi.h"

void kernel(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);

enum { kRead = 63, kWrite = 64, kExit = 93, kMap = 222, kMaxBuffers = 64 };

static int64_t call_system(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f) {
  register int64_t x8 __asm__("x8") = number;
  register int64_t x0 __asm__("x0") = a;
  register int64_t x1 __asm__("x1") = b;
  register int64_t x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d;
  register int64_t x4 __asm__("x4") = e;
  register int64_t x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

// Compilers may call these implicitly.
void* memset(void* to, int value, size_t count) {
  for (volatile char* byte = to; count-- > 0; ++byte) *byte = (char)value;
  return to;
}
void* memcpy(void* restrict to, const void* restrict from, size_t count) {
  volatile char* out = to;
  for (const char* byte = from; count-- > 0;) *out++ = *byte++;
  return to;
}

static void end(int64_t status) {
  for (;;) call_system(kExit, status, 0, 0, 0, 0, 0);
}

static void transfer(int64_t number, int64_t file, char* bytes, int64_t count) {
  while (count > 0) {
    const int64_t done = call_system(number, file, (int64_t)bytes, count, 0, 0, 0);
    if (done <= 0) end(2);
    bytes += done;
    count -= done;
  }
}

/// Allocates pages followed by an inaccessible one.
static char* allocate(int64_t bytes) {
  const int64_t page = 4096, inner = (bytes + page - 1) / page * page, no_file = -1;
  char* guarded =
      (char*)call_system(kMap, 0, inner + page, /*none*/ 0, /*private, anonymous*/ 0x22, no_file, 0);
  const int64_t fixed = 0x32, read_write = 3;
  if (inner > 0) call_system(kMap, (int64_t)guarded, inner, read_write, fixed, no_file, 0);
  return guarded + (inner - bytes) / 64 * 64;
}

/// Runs the second half first, since iterations must not depend on each other.
static void run_halves(void* pool, int64_t count, tunesmith_loop_body body, void* closure) {
  (void)pool;
  body(closure, count / 2, count);
  body(closure, 0, count / 2);
}

void _start(void) {
  int64_t head[2], sizes[kMaxBuffers];
  void* buffers[kMaxBuffers];
  transfer(kRead, 0, (char*)head, sizeof head);
  if (head[0] > kMaxBuffers) end(3);
  transfer(kRead, 0, (char*)sizes, head[0] * 8);
  for (int64_t i = 0; i < head[0]; ++i) {
    buffers[i] = allocate(sizes[i]);
    transfer(kRead, 0, buffers[i], sizes[i]);
  }
  kernel(buffers, allocate(head[1]), run_halves, 0);
  for (int64_t i = 0; i < head[0]; ++i) transfer(kWrite, 1, buffers[i], sizes[i]);
  end(0);
}
