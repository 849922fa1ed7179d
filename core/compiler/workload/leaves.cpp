#include "workload/leaves.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/workload/definition.h"

namespace tunesmith::workload {

SyntaxPtr leaf(SyntaxKind kind, std::string text) {
  auto made = std::make_unique<Syntax>();
  made->kind = kind;
  made->name = std::move(text);
  return made;
}

namespace {

SyntaxPtr with_sign(SyntaxPtr magnitude, bool is_negative) {
  if (!is_negative) return magnitude;
  SyntaxPtr made = leaf(SyntaxKind::Negate, "");
  made->depth = 2;
  made->args.push_back(std::move(magnitude));
  return made;
}

}  // namespace

SyntaxPtr integer_leaf(int64_t value) {
  SyntaxPtr made = leaf(SyntaxKind::Integer, fmt::format("{}", std::abs(value)));
  made->integer = std::abs(value);
  return with_sign(std::move(made), value < 0);
}

SyntaxPtr real_leaf(double value) {
  SyntaxPtr made = leaf(SyntaxKind::Real, fmt::format("{}", std::abs(value)));
  made->real = std::abs(value);
  return with_sign(std::move(made), std::signbit(value));
}

SyntaxPtr type_leaf(DType type) { return leaf(SyntaxKind::Name, type.str()); }

std::vector<SyntaxPtr> integer_leaves(std::span<const int64_t> values) {
  std::vector<SyntaxPtr> made;
  for (const int64_t value : values) made.push_back(integer_leaf(value));
  return made;
}

InputSyntax input_syntax(const BufferNode& buffer) {
  return {buffer.name,
          {},
          {},
          integer_leaves(buffer.shape),
          type_leaf(buffer.dtype),
          buffer.constant ? leaf(SyntaxKind::Name, "true") : nullptr};
}

}  // namespace tunesmith::workload
