// Locates the program's shared variables: in its thread-local segment.
#include <link.h>

#include "checker.h"

extern "C" {
// Defined in the kernel's translation unit.
extern __thread char tunesmith_dynamic_shared[];
extern const size_t tunesmith_dynamic_reserve;
}

namespace tunesmith_emulation {

SharedMemory shared_memory;

namespace {

int find_thread_local_segment(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    shared_memory.low = static_cast<char*>(info->dlpi_tls_data);
    shared_memory.high = shared_memory.low + info->dlpi_phdr[i].p_memsz;
  }
  return 1;  // the first object is the program: its libraries' variables are not the kernel's
}

}  // namespace

void find_shared_memory(size_t dynamic_bytes) {
  dl_iterate_phdr(find_thread_local_segment, nullptr);
  shared_memory.dynamic = tunesmith_dynamic_shared;
  shared_memory.dynamic_bytes = dynamic_bytes;
  shared_memory.dynamic_reserve = tunesmith_dynamic_reserve;
}

}  // namespace tunesmith_emulation
