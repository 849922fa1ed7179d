#include <fmt/format.h>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/support/hash.h"

// Structured bindings name all members, so that a new member does not compile until it is added here.
namespace tunesmith {
namespace {

/// Texts are hashed with their lengths, so that their concatenation is unambiguous.
class Content {
 public:
  void text(std::string_view text) { all_ += fmt::format("{}:{}\n", text.size(), text); }
  template <typename Number>
  void number(Number number) {
    all_ += fmt::format("{}\n", number);
  }
  std::string take() { return std::move(all_); }

 private:
  std::string all_;
};

/// Beyond the values of TensorOperand::Swizzled.
constexpr int kZeroOutside = 8;

void add(Content& content, const TensorOperand& operand) {
  const auto& [buffer, strides, stride_multiple, by_address, alignment, swizzled, zero_outside, scope, layout,
               registers] = operand;
  content.text(buffer->name);
  content.text(buffer->dtype.str());
  content.number(buffer->shape.size());
  for (const int64_t extent : buffer->shape) content.number(extent);
  content.number(strides.size());
  for (const int64_t stride : strides) content.number(stride);
  content.number(stride_multiple);
  content.number(by_address);
  content.number(alignment);
  // One number for both, so that what was recorded before there were zeros outside keeps its hash.
  content.number(static_cast<int>(swizzled) + (zero_outside ? kZeroOutside : 0));
  content.text(scope);
  content.text(layout);
  content.text(registers);
}

void add(Content& content, const UnitSetup& setup) {
  const auto& [extension, process, thread] = setup;
  content.text(extension);
  for (const auto* code : {&process, &thread}) {
    const auto& [text, location] = *code;
    static_cast<void>(location);
    content.text(text);
  }
}

void add(Content& content, const TensorImplementation& implementation) {
  const auto& [form, text, location, after, before_barrier, arguments, setup] = implementation;
  static_cast<void>(location);
  content.number(static_cast<int>(form));
  content.text(text);
  content.text(after);
  content.text(before_barrier);
  content.number(arguments.size());
  for (const size_t position : arguments) content.number(position);
  add(content, setup);
}

}  // namespace

std::string content_of(const TensorIntrinsic& intrinsic) {
  const auto& [name, level, bulk_copy, cycles, peak_sums, semantics, operands, implementations] = intrinsic;
  Content content;
  content.text(name);
  content.text(level);
  content.number(bulk_copy);
  content.number(cycles);
  content.number(peak_sums);
  content.text(to_string(semantics));
  content.number(operands.size());
  for (const TensorOperand& operand : operands) add(content, operand);
  for (const auto& [target, implementation] : implementations) {
    content.text(target);
    add(content, implementation);
  }
  return content.take();
}

uint64_t content_hash(const TensorIntrinsic& intrinsic) { return hash_bytes(content_of(intrinsic)); }

}  // namespace tunesmith
