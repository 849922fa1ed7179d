// Memory between two inaccessible guard pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tunesmith {

/// Rounds `bytes` (at least one) up to whole pages.
int64_t whole_pages(int64_t bytes);

/// The position of the bytes between the guards.
enum class Placement : uint8_t {
  AtEnd,      // they end at the guard page (up to the alignment): the first byte beyond is a fault
  Unaligned,  // their address is a multiple of the alignment, but of no larger power of two
  OnPage      // they begin on a page
};

/// Owns its mapping. The rest of the first and last page
/// around the bytes has a pattern that check_canary() tests.
class GuardedBuffer {
 public:
  /// `alignment` is a power of two. Throws EnvironmentError if there is not enough memory.
  GuardedBuffer(int64_t bytes, int64_t alignment, Placement placement = Placement::AtEnd);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  /// Moves the bytes within the mapping; their contents are lost.
  void place(Placement placement);
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  void set_read_only(bool read_only);
  /// Writes the pattern again, so that a write is reported only once.
  void fill_canary();
  /// False if memory before the first byte or behind the last was written.
  bool check_canary() const;
  /// Is the address in the mapping or its guards?
  bool owns(const void* address) const;

 private:
  std::byte* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::byte* first_ = nullptr;  // the first accessible page
  size_t accessible_bytes_ = 0;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  size_t alignment_ = 1;
};

}  // namespace tunesmith
