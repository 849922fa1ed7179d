// Memory between two pages that nobody may touch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tunesmith {

/// `bytes`, at least one, rounded up to whole pages.
int64_t whole_pages(int64_t bytes);

/// Owns its mapping. The bytes end exactly where the guard page begins (up to the element's size), so that
/// the first element beyond is a fault; what lies before them on their first page is filled with a pattern
/// that check_canary() looks for.
class GuardedBuffer {
 public:
  /// Throws EnvironmentError when the memory is not to be had.
  GuardedBuffer(int64_t bytes, int64_t alignment);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  void set_read_only(bool read_only);
  /// Anew, so that a write found once is not found again.
  void fill_canary();
  /// False when somebody wrote before the first byte.
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
};

}  // namespace tunesmith
