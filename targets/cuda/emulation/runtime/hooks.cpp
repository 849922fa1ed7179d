// The functions that a compiler calls for each load and store under -fsanitize=thread. The kernel
// text is compiled so but not linked with ThreadSanitizer: these functions are the checker.
#include <cstdint>
#include <cstring>

#include <sys/types.h>

#include "checker.h"
#include "findings.h"

namespace tunesmith_emulation {
namespace {

void access(const void* address, size_t bytes, bool write) {
  const Thread* thread = machine.running;
  if (thread == nullptr) return;
  if (write) {
    check_write(*thread, address, bytes);
  } else {
    check_read(*thread, address, bytes);
  }
}

}  // namespace

void read_by_read_only_path(const void* address, unsigned bytes, int line) {
  check_read_only(address, bytes, line);
}

}  // namespace tunesmith_emulation

#define TUNESMITH_HOOKS(bytes)                                                                 \
  void __tsan_read##bytes(void* p) { tunesmith_emulation::access(p, bytes, false); }           \
  void __tsan_write##bytes(void* p) { tunesmith_emulation::access(p, bytes, true); }           \
  void __tsan_unaligned_read##bytes(void* p) { tunesmith_emulation::access(p, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* p) { tunesmith_emulation::access(p, bytes, true); } \
  void __tsan_volatile_read##bytes(void* p) { tunesmith_emulation::access(p, bytes, false); }  \
  void __tsan_volatile_write##bytes(void* p) { tunesmith_emulation::access(p, bytes, true); }  \
  void __tsan_read_write##bytes(void* p) {                                                     \
    tunesmith_emulation::access(p, bytes, false);                                              \
    tunesmith_emulation::access(p, bytes, true);                                               \
  }
// NOLINTBEGIN(bugprone-reserved-identifier): the compilers chose these names
extern "C" {
TUNESMITH_HOOKS(1)
TUNESMITH_HOOKS(2)
TUNESMITH_HOOKS(4)
TUNESMITH_HOOKS(8)
TUNESMITH_HOOKS(16)
void __tsan_read_range(void* p, size_t bytes) { tunesmith_emulation::access(p, bytes, false); }
void __tsan_write_range(void* p, size_t bytes) { tunesmith_emulation::access(p, bytes, true); }
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  tunesmith_emulation::access(from, bytes, false);
  tunesmith_emulation::access(to, bytes, true);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
  tunesmith_emulation::access(to, bytes, true);
  return std::memset(to, value, bytes);
}
// The description begins with the source position of the access.
struct SourcePlace {
  const char* file;
  uint32_t line, column;
};
void __ubsan_handle_type_mismatch_v1(const SourcePlace* at, const void* address) {
  char place[128];
  tunesmith_emulation::describe_address(address, place, sizeof place);
  tunesmith_emulation::report_and_stop(
      tunesmith_emulation::Kind::Misaligned,
      "line %u: thread %u accesses %s, which its type's alignment does not divide", at->line,
      tunesmith_emulation::running().id, place);
}
struct TypeName {
  uint16_t kind, info;
  char name[1];  // "'float [8]'"
};
// For a thread's own arrays: the index, of the type that is described last.
struct ArrayAccess {
  SourcePlace at;
  const TypeName* array;
};
void __ubsan_handle_out_of_bounds(const ArrayAccess* access, uintptr_t index) {
  tunesmith_emulation::report_and_stop(
      tunesmith_emulation::Kind::OutOfBounds, "line %u: thread %u accesses element %zd of an array %s",
      access->at.line, tunesmith_emulation::running().id, ssize_t(index), access->array->name);
}
// Shift counts out of range: device and host differ, and compilers follow neither.
struct ShiftedNumber {
  SourcePlace at;
  const TypeName* number;
};
void __ubsan_handle_shift_out_of_bounds(const ShiftedNumber* shift, uintptr_t, uintptr_t bits) {
  tunesmith_emulation::report_and_stop(tunesmith_emulation::Kind::BadOperand,
                                       "line %u: thread %u shifts a number of %s by %d bits", shift->at.line,
                                       tunesmith_emulation::running().id, shift->number->name, int(bits));
}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
// NOLINTEND(bugprone-reserved-identifier)
