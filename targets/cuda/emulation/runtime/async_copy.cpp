// cp.async: bytes arrive when their group is waited for, i.e. as late as
// possible, so that a read that is too early sees old data. In random order a
// copy may also arrive at once, so that an overwrite that is too early shows.
#include <cstring>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {
namespace {

void arrive(const PendingCopy& copy) {
  std::memcpy(copy.to, copy.from, copy.source_bytes);
  std::memset(copy.to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

}  // namespace

void copy_async(void* shared, const void* global, unsigned bytes, unsigned source_bytes, int line) {
  Thread& thread = running();
  if ((reinterpret_cast<uintptr_t>(shared) | reinterpret_cast<uintptr_t>(global)) % bytes != 0 ||
      source_bytes > bytes) {
    report_and_stop(
        Kind::BadOperand,
        "cp.async of line %d: thread %u copies %u of %u bytes, and its addresses must be multiples of %u",
        line, thread.id, source_bytes, bytes, bytes);
  }
  if (!is_shared(shared, bytes) ||
      (source_bytes > 0 && (is_shared(global, source_bytes) || stack_owner(global) != kNobody))) {
    report_and_stop(Kind::BadOperand,
                    "cp.async of line %d: thread %u does not copy from global to shared memory", line,
                    thread.id);
  }
  if (source_bytes > 0) begin_copy_read(thread, global, source_bytes, false);
  begin_async_write(thread, shared, bytes);
  const PendingCopy copy{static_cast<char*>(shared), static_cast<const char*>(global), bytes, source_bytes};
  if (machine.order == Order::Random && (next_random() & 1) != 0) arrive(copy);
  thread.copies.issue(copy);
}

void abandon_copies(Thread& thread) {
  for (const PendingCopy& copy : thread.copies.issued) end_copy_read(thread, copy.from, copy.source_bytes);
  thread.copies.clear();
}

void commit_copies() { running().copies.commit(); }

void wait_for_copies(unsigned groups) {
  Thread& thread = running();
  thread.copies.wait(groups, [&](const PendingCopy& copy) {
    arrive(copy);
    end_async_write(thread, copy.to, copy.bytes, false);
    end_copy_read(thread, copy.from, copy.source_bytes);
  });
}

}  // namespace tunesmith_emulation
