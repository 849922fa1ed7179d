#include "workload/parser.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workload/lexer.h"

namespace tunesmith::workload {

namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxDepth = 256;

constexpr std::array<std::string_view, 6> kReductions = {"sum", "prod", "max", "min", "argmax", "argmin"};

/// The operators with their precedence.
constexpr std::array<std::pair<std::string_view, Binding>, 14> kOperators = {{{"or", Binding::Or},
                                                                              {"and", Binding::And},
                                                                              {"<", Binding::Comparison},
                                                                              {"<=", Binding::Comparison},
                                                                              {">", Binding::Comparison},
                                                                              {">=", Binding::Comparison},
                                                                              {"==", Binding::Comparison},
                                                                              {"!=", Binding::Comparison},
                                                                              {"+", Binding::Sum},
                                                                              {"-", Binding::Sum},
                                                                              {"*", Binding::Product},
                                                                              {"/", Binding::Product},
                                                                              {"//", Binding::Product},
                                                                              {"%", Binding::Product}}};

class Parser {
 public:
  explicit Parser(const YamlNode& scalar) : file_(scalar.location.file), tokens_(tokenize(scalar)) {}

  SyntaxPtr whole_expression() {
    SyntaxPtr value = expression();
    if (here().kind != TokenKind::End) fail_unexpected("the end of the expression");
    return value;
  }

  std::vector<StatementSyntax> statements() {
    std::vector<StatementSyntax> all;
    while (here().kind != TokenKind::End) {
      all.push_back(statement());
      if (here().kind == TokenKind::EndOfStatement) {
        ++at_;
      } else if (here().kind != TokenKind::End) {
        fail_unexpected("an operator or the end of the statement");
      }
    }
    if (all.empty()) fail(here().place, "expected a statement", "expected: O[i<n] = expression");
    return all;
  }

 private:
  [[noreturn]] void fail(Place place, const std::string& message, std::string remedy = {}) const {
    throw UserError(SourceLocation{file_, place.line, place.column}, message, std::move(remedy));
  }
  [[noreturn]] void fail_unexpected(std::string_view expected) const {
    const Token& token = here();
    const bool end = token.kind == TokenKind::EndOfStatement || token.kind == TokenKind::End;
    std::string remedy;
    if (token.kind == TokenKind::EndOfStatement) remedy = "expected an indented continuation line";
    fail(token.place,
         fmt::format("expected {}, found {}", expected, end ? token.text : "'" + token.text + "'"),
         std::move(remedy));
  }

  const Token& here() const { return tokens_[at_]; }
  const Token& ahead(size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  static bool is_symbol(const Token& token, std::string_view text) {
    return token.kind == TokenKind::Symbol && token.text == text;
  }
  bool at_symbol(std::string_view text) const { return is_symbol(here(), text); }
  bool at_word(std::string_view text) const { return here().kind == TokenKind::Name && here().text == text; }
  const Token& take() { return tokens_[at_++]; }
  void expect(std::string_view symbol, std::string_view where) {
    if (!at_symbol(symbol)) fail_unexpected(fmt::format("'{}' {}", symbol, where));
    ++at_;
  }

  SyntaxPtr node(SyntaxKind kind, const Token& token) const {
    auto made = std::make_unique<Syntax>();
    made->kind = kind;
    made->place = token.place;
    made->name = token.text;
    made->integer = token.integer;
    made->real = token.real;
    return made;
  }
  /// Later stages walk the tree recursively, so its depth is bounded here.
  void adopt(Syntax& parent, SyntaxPtr child) const {
    parent.depth = std::max(parent.depth, child->depth + 1);
    if (parent.depth > kMaxDepth)
      fail(parent.place, "this expression is too long", "split it into several statements");
    parent.args.push_back(std::move(child));
  }
  StatementSyntax statement() {
    StatementSyntax made;
    if (here().kind != TokenKind::Name) fail_unexpected("the name of a buffer to compute");
    made.place = here().place;
    made.target = take().text;
    expect("[", fmt::format("after '{}': a statement is O[i<n] = expression", made.target));
    made.axes = axis_list("]");
    expect("]", "after the axes");
    if (at_symbol("+") && is_symbol(ahead(1), "=")) {
      fail(here().place, "a statement computes its buffer once",
           "accumulate with a reduction: sum(k<n) expression");
    }
    expect("=", "after the axes");
    made.value = expression();
    return made;
  }

  std::vector<AxisSyntax> axis_list(std::string_view close) {
    std::vector<AxisSyntax> axes;
    for (;;) {
      if (here().kind != TokenKind::Name) fail_unexpected("an axis: name<extent");
      AxisSyntax axis;
      axis.place = here().place;
      axis.name = take().text;
      if (at_symbol("<")) {
        ++at_;
        axis.extent = operation(Binding::Sum);
      }
      axes.push_back(std::move(axis));
      if (at_symbol(close)) break;
      expect(",", fmt::format("or '{}' after an axis", close));
    }
    return axes;
  }

  SyntaxPtr expression() {
    if (++nesting_ > kMaxNesting) fail(here().place, "nested too deeply", "split it into several statements");
    SyntaxPtr value = operation(Binding::Or);
    --nesting_;
    return value;
  }

  /// Parses operators of at least this precedence.
  SyntaxPtr operation(Binding least) {
    SyntaxPtr value = least <= Binding::Not && at_word("not") ? prefixed(SyntaxKind::Not, Binding::Not)
                      : at_symbol("-") ? prefixed(SyntaxKind::Negate, Binding::Negation)
                                       : primary();
    for (Binding own = binding_here(); own != Binding::None && own >= least; own = binding_here()) {
      if (own == Binding::Sum && open_reduction_) {
        fail(
            here().place,
            fmt::format("ambiguous: '{}' may belong to the {} before it", here().text, open_reduction_->name),
            fmt::format("write ({0}(...) a) {1} b, or {0}(...) (a {1} b)", open_reduction_->name,
                        here().text));
      }
      SyntaxPtr made = node(SyntaxKind::Binary, take());
      adopt(*made, std::move(value));
      adopt(*made, operation(stronger(own)));
      value = std::move(made);
      if (own == Binding::Comparison && binding_here() == own)
        fail(here().place, "comparisons do not chain", "write a < b and b < c");
    }
    return value;
  }

  Binding binding_here() const {
    const Token& token = here();
    const bool may_be_one = token.kind == TokenKind::Symbol || token.kind == TokenKind::Name;
    return may_be_one ? binding(token.text) : Binding::None;
  }

  /// Parses "not" or "-" with its operand of at least this precedence.
  SyntaxPtr prefixed(SyntaxKind kind, Binding least) {
    SyntaxPtr made = node(kind, take());
    if (++nesting_ > kMaxNesting) fail(made->place, "nested too deeply");
    adopt(*made, operation(least));
    --nesting_;
    return made;
  }

  SyntaxPtr primary() {
    open_reduction_ = nullptr;
    const Token& token = here();
    if (token.kind == TokenKind::Integer) return node(SyntaxKind::Integer, take());
    if (token.kind == TokenKind::Real) return node(SyntaxKind::Real, take());
    if (at_symbol("(")) {
      ++at_;
      SyntaxPtr value = expression();
      expect(")", "to close the parenthesis");
      open_reduction_ = nullptr;
      return value;
    }
    if (token.kind != TokenKind::Name) fail_unexpected("a value");
    if (is_symbol(ahead(1), "(")) {
      if (at_reduction()) return reduction();
      if (here().text != "select" && has_axes_and_value())
        fail(here().place, fmt::format("unknown reduction '{}'", here().text),
             suggest(here().text, {kReductions.begin(), kReductions.end()}));
      return arguments(SyntaxKind::Call, ")");
    }
    if (is_symbol(ahead(1), "[")) return arguments(SyntaxKind::Access, "]");
    return node(SyntaxKind::Name, take());
  }

  SyntaxPtr arguments(SyntaxKind kind, std::string_view close) {
    SyntaxPtr made = node(kind, take());
    ++at_;
    if (!at_symbol(close)) {
      adopt(*made, expression());
      while (at_symbol(",")) {
        ++at_;
        adopt(*made, expression());
      }
    }
    if (!at_symbol(close))
      fail_unexpected(fmt::format("',' or '{}' after an argument of '{}'", close, made->name));
    ++at_;
    open_reduction_ = nullptr;
    return made;
  }

  static bool begins_value(const Token& token) {
    if (token.kind == TokenKind::Name) return token.text != "and" && token.text != "or";
    return token.kind == TokenKind::Integer || token.kind == TokenKind::Real || is_symbol(token, "(");
  }

  /// `max` and `min` take axes or values: axes if an argument begins as `name <`, or if a value follows the
  /// closing parenthesis, which never follows a call.
  bool at_reduction() const {
    if (std::ranges::find(kReductions, here().text) == kReductions.end()) return false;
    if (here().text != "max" && here().text != "min") return true;
    const Parenthesis parenthesis = look_into_parenthesis();
    return parenthesis.has_axes || parenthesis.has_value_behind;
  }

  /// Only a reduction has both.
  bool has_axes_and_value() const {
    const Parenthesis parenthesis = look_into_parenthesis();
    return parenthesis.has_axes && parenthesis.has_value_behind;
  }

  struct Parenthesis {
    bool has_axes = false;  // an argument begins as `name <`
    bool has_value_behind = false;
  };

  /// Looks ahead into the parenthesis after the current name.
  Parenthesis look_into_parenthesis() const {
    Parenthesis found;
    int depth = 0;
    for (size_t i = at_ + 1; i + 2 < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::EndOfStatement) break;
      if (depth == 1 && token.kind == TokenKind::Name && is_symbol(tokens_[i + 1], "<") &&
          (is_symbol(tokens_[i - 1], "(") || is_symbol(tokens_[i - 1], ",")))
        found.has_axes = true;
      if (is_symbol(token, "(") || is_symbol(token, "[")) ++depth;
      if ((is_symbol(token, ")") || is_symbol(token, "]")) && --depth == 0) {
        found.has_value_behind = begins_value(tokens_[i + 1]);
        break;
      }
    }
    return found;
  }

  /// sum(k<n) a * b reduces the whole product.
  SyntaxPtr reduction() {
    SyntaxPtr made = node(SyntaxKind::Reduce, take());
    ++at_;
    made->axes = axis_list(")");
    expect(")", "after the axes");
    if (++nesting_ > kMaxNesting) fail(made->place, "nested too deeply", "split it into several statements");
    adopt(*made, operation(Binding::Product));
    --nesting_;
    open_reduction_ = made.get();
    return made;
  }

  const std::string file_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  /// The reduction at the end of what was parsed, if no parenthesis encloses it.
  const Syntax* open_reduction_ = nullptr;
};

}  // namespace

Binding binding(std::string_view op) {
  const auto found = std::ranges::find(kOperators, op, &std::pair<std::string_view, Binding>::first);
  return found == kOperators.end() ? Binding::None : found->second;
}

SyntaxPtr parse_expression(const YamlNode& scalar) { return Parser(scalar).whole_expression(); }

std::vector<StatementSyntax> parse_statements(const YamlNode& scalar) { return Parser(scalar).statements(); }

}  // namespace tunesmith::workload
