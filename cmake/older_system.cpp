// Part of everything that is linked with TUNESMITH_STATIC, so that a package that Debian 12 builds runs with
// glibc 2.34 and the libstdc++ of GCC 11 (manylinux_2_34): what Debian's compiler and its LLVM take of newer
// ones. Each file that it is linked into has its own, hidden.
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

/// LLVM names temporary files by it. Of glibc 2.36.
extern "C" uint32_t arc4random() noexcept {
  uint32_t bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) std::abort();
  return bits;
}

/// std::condition_variable::wait(std::unique_lock<std::mutex>&), as libstdc++ has it. Its symbol is of
/// GCC 12.
void wait_as_libstdcxx(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void wait_as_libstdcxx(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) {
  if (pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle()) != 0) std::abort();
}
