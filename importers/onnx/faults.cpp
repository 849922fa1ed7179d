#include "faults.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/support/error.h>

namespace tunesmith::onnx_reader {
namespace {

/// Names in a file may contain terminal control sequences.
void make_printable(std::string& text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
}

}  // namespace

void Faults::add(std::string fault) {
  constexpr size_t kMaxKept = 100;
  ++count_;
  if (kept_.size() >= kMaxKept) return;
  make_printable(fault);
  kept_.push_back(std::move(fault));
}

void Faults::throw_if_any() const {
  if (!any()) return;
  if (count_ == 1) throw UserError(kept_.front());
  std::string message = fmt::format("{} faults:\n  {}", count_, fmt::join(kept_, "\n  "));
  if (count_ > kept_.size()) message += fmt::format("\n  and {} more", count_ - kept_.size());
  throw UserError(message);
}

}  // namespace tunesmith::onnx_reader
