#include "ir/expr_parser.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "tunesmith/ir/fold.h"

namespace tunesmith {
namespace {

constexpr int kMaxBrackets = 1000;
constexpr int kMaxExprDepth = 2000;

constexpr MathOp kLastMathOp = MathOp::RoundEven;

std::optional<MathOp> math_op_of(std::string_view word) {
  for (int op = 0; op <= static_cast<int>(kLastMathOp); ++op) {
    if (math_op_name(static_cast<MathOp>(op)) == word) return static_cast<MathOp>(op);
  }
  return std::nullopt;
}

std::vector<std::string> functions() {
  std::vector<std::string> names = {"min", "max", "select", "ramp", "broadcast", "index"};
  for (int op = 0; op <= static_cast<int>(kLastMathOp); ++op)
    names.emplace_back(math_op_name(static_cast<MathOp>(op)));
  names.insert(names.end(), DType::names().begin(), DType::names().end());
  return names;
}

}  // namespace

Expr ExprParser::expression(DType wanted, std::string_view what) {
  return expr_of_type(*conditional(), wanted, what, file());
}

Expr ExprParser::index_sum(std::string_view what) {
  return expr_of_type(*syntax(kSum), kIndex, what, file());
}

Expr ExprParser::value_for(const BufferNode& buffer) {
  return expression(buffer.dtype, fmt::format("what is stored to {}", buffer.name));
}

std::vector<Expr> ExprParser::indices() {
  std::vector<Expr> found;
  expect('[', "before the indices");
  if (take(']')) return found;
  do {
    found.push_back(expression(kIndex, "an index"));
  } while (take(','));
  expect(']', "behind the indices");
  return found;
}

std::string ExprParser::any_name(std::string_view wanted) {
  skip_blank(false);
  return peek() == '"' ? quoted() : name(wanted);
}

std::string ExprParser::dotted_name(std::string_view wanted) {
  std::string whole = any_name(wanted);
  while (peek() == '.' && !rest().starts_with("..")) {
    advance();
    whole += "." + name("a name after the dot");
  }
  return whole;
}

const Buffer& ExprParser::buffer_of(const std::string& name, Position at) const {
  const auto found = buffers_.find(name);
  if (found != buffers_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [declared, buffer] : buffers_) known.push_back(declared);
  std::sort(known.begin(), known.end());
  fail(at, fmt::format("unknown buffer '{}'", name), known.empty() ? "" : suggest(name, known));
}

int64_t ExprParser::integer_from(int64_t least, int64_t most, std::string_view wanted) {
  skip_blank(false);
  const Position at = here_;
  const int64_t value = integer(wanted);
  if (value < least || value > most)
    fail(at, fmt::format("{} must be from {} to {}, not {}", wanted, least, most, value));
  return value;
}

std::optional<DType> ExprParser::type_of(std::string_view word) {
  const auto scalar = [](std::string_view name) {
    return name == "index" ? std::optional(kIndex) : DType::parse(name);
  };
  if (const auto type = scalar(word)) return type;
  const size_t x = word.rfind('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto type = scalar(word.substr(0, x));
  const std::string_view digits = word.substr(x + 1);
  const bool number = !digits.empty() && digits.size() <= 5 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int lanes = number ? std::stoi(std::string(digits)) : 0;
  if (!type || lanes < 2 || lanes > std::numeric_limits<uint16_t>::max()) return std::nullopt;
  return type->with_lanes(lanes);
}

SyntaxPtr ExprParser::node(ExprKind kind, std::string text, Position at) const {
  auto made = std::make_unique<ExprSyntax>();
  made->kind = kind;
  made->text = std::move(text);
  made->at = at;
  return made;
}

void ExprParser::adopt(ExprSyntax& parent, SyntaxPtr child) const {
  parent.depth = std::max(parent.depth, child->depth + 1);
  if (parent.depth > kMaxExprDepth)
    fail(parent.at, fmt::format("an expression of more than {} operations in one another", kMaxExprDepth));
  parent.args.push_back(std::move(child));
}

/// Parses `load if condition`, or an operator that binds stronger.
SyntaxPtr ExprParser::conditional() {
  SyntaxPtr value = syntax(kOr);
  skip_blank(false);
  const Position at = here_;
  if (!take_word("if")) return value;
  if (value->kind != ExprKind::Load || value->masked)
    fail(at, "'if' is allowed only after a load", "write select(condition, a, b)");
  value->masked = true;
  adopt(*value, syntax(kOr));
  return value;
}

const InfixOperator* ExprParser::infix_here() const {
  for (const InfixOperator& op : kInfixOperators) {
    if (op.strength < kCompare ? word_here(op.symbol) : rest().starts_with(op.symbol)) return &op;
  }
  return nullptr;
}

void ExprParser::enter() {
  if (++nesting_ > kMaxBrackets) fail(here_, "brackets are nested too deeply");
}

SyntaxPtr ExprParser::syntax(Strength least) {
  enter();
  SyntaxPtr left = operand(least);
  while (true) {
    skip_blank(false);
    const InfixOperator* op = infix_here();
    if (op == nullptr || op->strength < least) break;
    const Position at = here_;
    take_text(op->symbol);
    left = join(*op, at, std::move(left), syntax(static_cast<Strength>(op->strength + 1)));
    skip_blank(false);
    const InfixOperator* next = infix_here();
    if (op->strength == kCompare && next != nullptr && next->strength == kCompare)
      fail(here_, "comparisons do not chain", "write a < b and b < c");
  }
  --nesting_;
  return left;
}

SyntaxPtr ExprParser::join(const InfixOperator& op, Position at, SyntaxPtr left, SyntaxPtr right) const {
  SyntaxPtr made = node(op.kind, std::string(op.symbol), at);
  if (op.swapped) std::swap(left, right);
  if (op.strength <= kCompare) {
    made->natural = kBool;
  } else {
    made->natural = left->natural ? left->natural : right->natural;
  }
  adopt(*made, std::move(left));
  adopt(*made, std::move(right));
  return made;
}

SyntaxPtr ExprParser::operand(Strength least) {
  skip_blank(false);
  const Position at = here_;
  if (least > kNot || !take_word("not")) return primary();
  SyntaxPtr made = node(ExprKind::Not, "not", at);
  made->natural = kBool;
  adopt(*made, syntax(kNot));
  return made;
}

SyntaxPtr ExprParser::literal(std::string text, Position at) const {
  if (text.find_first_of("xX") != std::string::npos) fail(at, fmt::format("'{}' is not a number", text));
  return node(ExprKind::IntImm, std::move(text), at);
}

SyntaxPtr ExprParser::not_a_number(Position at) {
  if (!take('(')) return node(ExprKind::IntImm, "nan", at);
  const std::string_view bits = number_text("the bits of a NaN, 0x...");
  if (!bits.starts_with("0x")) fail(at, "expected the bits of a NaN, nan(0x...)");
  std::string text = fmt::format("{}{}", kNanBits, bits.substr(2));
  expect(')', "behind the bits");
  return node(ExprKind::IntImm, std::move(text), at);
}

SyntaxPtr ExprParser::negative() {
  const Position at = here_;
  advance();
  if (std::isdigit(static_cast<unsigned char>(peek())) != 0)
    return literal(fmt::format("-{}", number_text("a number")), at);
  if (take_word("inf")) return node(ExprKind::IntImm, "-inf", at);
  enter();
  SyntaxPtr made = node(ExprKind::Mul, "-", at);
  SyntaxPtr value = primary();
  --nesting_;
  made->natural = value->natural;
  adopt(*made, std::move(value));
  adopt(*made, node(ExprKind::IntImm, "-1", at));
  return made;
}

SyntaxPtr ExprParser::primary() {
  skip_blank(false);
  const Position at = here_;
  const char c = peek();
  if (c == '(') {
    advance();
    SyntaxPtr inner = conditional();
    expect(')', "to close the bracket");
    return inner;
  }
  if (c == '-') return negative();
  if (std::isdigit(static_cast<unsigned char>(c)) != 0)
    return literal(std::string(number_text("a number")), at);
  const bool quotes = c == '"';
  const std::string word = any_name("a value");
  if (!quotes) {
    if (word == "inf") return node(ExprKind::IntImm, word, at);
    if (word == "nan") return not_a_number(at);
    if (word == "true" || word == "false") {
      SyntaxPtr made = node(ExprKind::IntImm, word, at);
      made->natural = kBool;
      return made;
    }
    if (peek() == '(') return call(word, at);
  }
  return peek() == '[' ? access(word, at) : variable(word, at);
}

SyntaxPtr ExprParser::variable(const std::string& word, Position at) const {
  const auto found =
      std::find_if(vars_.rbegin(), vars_.rend(), [&](const auto& var) { return var.first == word; });
  if (found == vars_.rend()) {
    std::vector<std::string> known;
    for (const auto& [name, var] : vars_) known.push_back(name);
    fail(at, fmt::format("unknown variable '{}'", word), known.empty() ? "" : suggest(word, known));
  }
  SyntaxPtr made = node(ExprKind::Var, word, at);
  made->var = found->second;
  made->natural = made->var.dtype();
  return made;
}

SyntaxPtr ExprParser::access(const std::string& word, Position at) {
  SyntaxPtr made = node(ExprKind::Load, word, at);
  made->buffer = buffer_of(word, at);
  made->natural = made->buffer->dtype;
  expect('[', "before the indices");
  if (!take(']')) {
    do {
      adopt(*made, conditional());
    } while (take(','));
    expect(']', "behind the indices");
  }
  const size_t rank = made->buffer->shape.size();
  if (made->args.size() != rank && made->args.size() != 1)
    fail(at, fmt::format("{} has {} dimensions, not {}", word, rank, made->args.size()));
  return made;
}

void ExprParser::arguments(ExprSyntax& parent, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) expect(',', fmt::format("between the operands of {}", parent.text));
    adopt(parent, conditional());
  }
}

SyntaxPtr ExprParser::call(const std::string& word, Position at) {
  advance();
  SyntaxPtr made;
  const auto type = type_of(word);
  const auto math = math_op_of(word);
  if (type) {
    made = node(ExprKind::Cast, word, at);
    made->type = *type;
    arguments(*made, 1);
    made->natural = type->scalar();
  } else if (math) {
    made = node(ExprKind::Call, word, at);
    made->math = *math;
    arguments(*made, math_op_arity(*math));
  } else if (word == "min" || word == "max") {
    made = node(word == "min" ? ExprKind::Min : ExprKind::Max, word, at);
    arguments(*made, 2);
  } else if (word == "select") {
    made = node(ExprKind::Select, word, at);
    arguments(*made, 3);
  } else if (word == "ramp" || word == "broadcast") {
    made = node(word == "ramp" ? ExprKind::Ramp : ExprKind::Broadcast, word, at);
    arguments(*made, word == "ramp" ? 2 : 1);
    expect(',', "before the number of lanes");
    made->lanes =
        static_cast<int>(integer_from(1, std::numeric_limits<uint16_t>::max(), "the number of lanes"));
    if (word == "ramp") made->natural = kIndex;
  } else {
    fail(at, fmt::format("unknown function '{}'", word), suggest(word, functions()));
  }
  expect(')', fmt::format("behind the operands of {}", word));
  for (size_t i = word == "select" ? 1 : 0; i < made->args.size() && !made->natural; ++i)
    made->natural = made->args[i]->natural;
  return made;
}

}  // namespace tunesmith
