#include "tunesmith/verification/guarded_buffer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {
constexpr std::byte kCanary{0xfb};  // a huge negative number as float, so that reads are detected, too
}

int64_t whole_pages(int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (std::max<int64_t>(bytes, 1) + page - 1) / page * page;
}

GuardedBuffer::GuardedBuffer(int64_t bytes, int64_t alignment, Placement placement)
    : bytes_(bytes), alignment_(static_cast<size_t>(alignment)) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Leaves room for every placement.
  accessible_bytes_ = static_cast<size_t>(whole_pages(std::max<int64_t>(bytes, 1) + alignment));
  mapping_bytes_ = accessible_bytes_ + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    throw EnvironmentError(std::string("no memory for a buffer: ") + std::strerror(errno));
  mapping_ = static_cast<std::byte*>(mapping);
  first_ = mapping_ + page;
  if (mprotect(first_, accessible_bytes_, PROT_READ | PROT_WRITE) != 0) {
    throw EnvironmentError(std::string("no memory for a buffer: ") + std::strerror(errno));
  }
  place(placement);
}

void GuardedBuffer::place(Placement placement) {
  const auto wanted = static_cast<size_t>(std::max<int64_t>(bytes_, 1));
  switch (placement) {
    case Placement::AtEnd:
      data_ = first_ + (accessible_bytes_ - wanted) / alignment_ * alignment_;
      break;
    case Placement::Unaligned:
      data_ = first_ + alignment_;
      break;
    case Placement::OnPage:
      data_ = first_;
      break;
  }
  fill_canary();
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      first_(other.first_),
      accessible_bytes_(other.accessible_bytes_),
      data_(other.data_),
      bytes_(other.bytes_),
      alignment_(other.alignment_) {}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

void GuardedBuffer::set_read_only(bool read_only) {
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  if (mprotect(first_, accessible_bytes_, protection) != 0) {
    throw EnvironmentError(std::string("a buffer's protection cannot be changed: ") + std::strerror(errno));
  }
}

void GuardedBuffer::fill_canary() {
  std::fill(first_, data_, kCanary);
  std::fill(data_ + bytes_, first_ + accessible_bytes_, kCanary);
}

bool GuardedBuffer::check_canary() const {
  const auto untouched = [](std::byte value) { return value == kCanary; };
  return std::all_of(first_, data_, untouched) &&
         std::all_of(data_ + bytes_, first_ + accessible_bytes_, untouched);
}

bool GuardedBuffer::owns(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= mapping_ && at < mapping_ + mapping_bytes_;
}

}  // namespace tunesmith
