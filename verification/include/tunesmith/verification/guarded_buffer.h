// Memory between two guard pages, which nothing may read or write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tunesmith {

/// `bytes`, at least one, rounded up to whole pages.
int64_t whole_pages(int64_t bytes);

/// Where the bytes lie between the guards.
enum class Placement : uint8_t {
  AtEnd,      // they end where the guard page begins (up to the alignment): the first byte beyond is a fault
  Unaligned,  // their address is a multiple of the alignment and of no larger power of two
  OnPage      // they begin on a page
};

/// Owns its mapping. What lies around the bytes on their first and last page is filled with a pattern that
/// check_canary() looks for.
class GuardedBuffer {
 public:
  /// `alignment` is a power of two. Throws EnvironmentError when the memory is not to be had.
  GuardedBuffer(int64_t bytes, int64_t alignment, Placement placement = Placement::AtEnd);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  /// Elsewhere in the mapping; what the bytes hold is lost.
  void place(Placement placement);
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  void set_read_only(bool read_only);
  /// Anew, so that a write found once is not found again.
  void fill_canary();
  /// False when somebody wrote before the first byte, or behind the last.
  bool check_canary() const;
  /// True when the address is in the mapping or its guards.
  bool owns(const void* address) const;

 private:
  std::byte* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::byte* first_ = nullptr;  // of the accessible pages
  size_t accessible_bytes_ = 0;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  size_t alignment_ = 1;
};

}  // namespace tunesmith
