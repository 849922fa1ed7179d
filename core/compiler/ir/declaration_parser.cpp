#include "ir/declaration_parser.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxRank = 64;

bool all_of_parameters(const Expr& extent) {
  return !any_of_expr(extent, [](const Expr& part) {
    const VarNode* var = part.as<VarNode>();
    return part.is(ExprKind::Load) || (var != nullptr && !var->is_parameter());
  });
}

}  // namespace

void DeclarationParser::next_line() {
  do {
    skip_blank(true);
    if (peek() != '^') break;
    while (!at_end() && peek() != '\n') advance();
  } while (!at_end());
}

void DeclarationParser::end_line() {
  skip_blank(false);
  if (!at_end() && peek() != '\n') fail_expected("the end of the line");
  next_line();
}

void DeclarationParser::end_head() {
  expect(':', "at the end of the line");
  end_line();
}

int DeclarationParser::inner(int outer) const {
  if (at_end() || indent() <= outer) {
    fail(here_, fmt::format("expected an indented line, found {}", what_is_here()),
         "write 'pass' for an empty body");
  }
  return indent();
}

bool DeclarationParser::more(int level) const {
  if (at_end() || indent() < level) return false;
  if (indent() > level) fail(here_, "unexpected indentation");
  return true;
}

void DeclarationParser::word(std::string_view wanted) {
  if (!take_word(wanted)) fail_expected(fmt::format("'{}'", wanted));
}

std::vector<Buffer> DeclarationParser::buffer_list() {
  std::vector<Buffer> list;
  expect('(', "before the buffers");
  if (take(')')) return list;
  do {
    list.push_back(buffer());
  } while (take(','));
  expect(')', "behind the buffers");
  return list;
}

Buffer DeclarationParser::buffer() {
  skip_blank(false);
  const Position at = here_;
  const std::string name = any_name("the name of a buffer");
  skip_blank(false);
  // A colon with nothing after it ends the line, and begins no type.
  const std::string_view behind = rest().substr(0, rest().find_first_of("#\n"));
  if (peek() != ':' || behind.find_first_not_of(" \t\r", 1) == std::string_view::npos)
    return buffer_of(name, at);
  advance();
  if (buffers_.contains(name)) fail(at, fmt::format("buffer '{}' already exists", name));
  skip_blank(false);
  const Position type_at = here_;
  const std::string word = this->name("the type of its elements");
  const auto type = DType::parse(word);
  if (!type) fail(type_at, fmt::format("unknown type '{}'", word), suggest(word, DType::names()));
  std::vector<int64_t> shape = integers(1, "an extent");
  check_size(shape, *type, at);
  return buffers_.emplace(name, buffer_like(name, *type, std::move(shape))).first->second;
}

Buffer DeclarationParser::buffer_like(const std::string& name, DType type, std::vector<int64_t> shape) {
  std::string scope = kScopeGlobal;
  const bool fact =
      at_word("constant") || at_word("strides") || at_word("swizzle") || at_word("at") || at_word("extents");
  if (!fact && (peek() == '"' || is_name(rest().substr(0, 1)))) scope = dotted_name("a scope");
  const bool constant = take_word("constant");
  std::vector<int64_t> strides;
  skip_blank(false);
  const Position at = here_;
  if (take_word("strides")) {
    strides = integers(0, "a stride");
    if (strides.size() != shape.size() || strides.empty())
      fail(at, fmt::format("expected {1} strides, found {0}", strides.size(), shape.size()));
    check_span(shape, strides, at);
  }
  const Swizzle how = take_word("swizzle") ? swizzle() : Swizzle{};
  std::vector<Expr> varying;
  if (take_word("extents")) varying = extents(shape);
  return with_extents(
      make_buffer(name, type, std::move(shape), std::move(scope), constant, std::move(strides), how),
      std::move(varying));
}

std::vector<Expr> DeclarationParser::extents(const std::vector<int64_t>& shape) {
  std::vector<Expr> found;
  bool vary = false;
  skip_blank(false);
  const Position at = here_;
  expect('[', "before an extent");
  do {
    found.push_back(expression(kIndex, "an extent"));
    if (found.size() <= shape.size() && is_const_int(found.back(), shape[found.size() - 1])) {
      found.back() = Expr();
    } else if (!all_of_parameters(found.back())) {
      fail(at, "an extent depends on parameters of the program alone");
    }
    vary = vary || found.back();
  } while (take(','));
  expect(']', "behind the extents");
  if (found.size() != shape.size())
    fail(at, fmt::format("expected {1} extents, found {0}", found.size(), shape.size()));
  return vary ? found : std::vector<Expr>();
}

Swizzle DeclarationParser::swizzle() {
  Swizzle how;
  skip_blank(false);
  const Position at = here_;
  expect('[', "before the bits");
  how.bits = static_cast<int>(integer_from(1, 30, "the number of bits"));
  word("bits");
  word("from");
  how.from = static_cast<int>(integer_from(0, 60, "the first bit of those that decide"));
  word("at");
  how.to = static_cast<int>(integer_from(0, 60, "the first bit that changes"));
  if (how.from < how.to + how.bits || how.from + how.bits > 62)
    fail(at, "the deciding bits are not above the changed bits");
  expect(']', "behind the bits");
  return how;
}

std::vector<int64_t> DeclarationParser::integers(int64_t least, std::string_view what) {
  std::vector<int64_t> found;
  expect('[', fmt::format("before {}", what));
  if (take(']')) return found;
  do {
    if (found.size() == kMaxRank) fail(here_, fmt::format("more than {} dimensions", kMaxRank));
    found.push_back(integer_from(least, kMaxExtent, what));
  } while (take(','));
  expect(']', fmt::format("behind {}", what));
  return found;
}

void DeclarationParser::check_size(const std::vector<int64_t>& extents, DType type, Position at) const {
  int64_t bytes = type.bytes();
  for (const int64_t extent : extents) {
    if (extent > 0 && bytes > kMaxExtent / extent) fail(at, "the buffer exceeds the address space");
    bytes *= std::max<int64_t>(extent, 1);
  }
}

void DeclarationParser::check_span(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                                   Position at) const {
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (strides[d] > 0 && shape[d] > (kMaxExtent - last) / strides[d])
      fail(at, "the buffer exceeds the address space");
    last += (shape[d] - 1) * strides[d];
  }
}

Annotations DeclarationParser::annotations(int level) {
  Annotations facts;
  while (more(level) && take_word("annotate")) {
    skip_blank(false);
    const Position at = here_;
    const std::string key = dotted_name("the key of an annotation");
    expect('=', "behind the key");
    if (!facts.emplace(key, annotation_value()).second) fail(at, fmt::format("'{}' is annotated twice", key));
    end_line();
  }
  return facts;
}

AnnotationValue DeclarationParser::annotation_value() {
  skip_blank(false);
  const double inf = std::numeric_limits<double>::infinity();
  if (peek() == '"') return quoted();
  if (take_word("inf")) return inf;
  if (take_word("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (take_text("-inf")) return -inf;
  return std::visit([](auto value) { return AnnotationValue(value); }, number());
}

}  // namespace tunesmith
