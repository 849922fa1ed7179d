// The tokens of the expression language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

enum class TokenKind : uint8_t { Name, Integer, Real, Symbol, EndOfStatement, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;  // "end of line" and "end of text" for the ends
  Place place;
  int64_t integer = 0;
  double real = 0.0;
};

/// Splits a scalar into tokens, ending with an End. A line that begins with a space continues the statement
/// of the previous line; any other line begins a statement, after an EndOfStatement. `#` begins a comment.
/// Throws UserError.
std::vector<Token> tokenize(const YamlNode& scalar);

}  // namespace tunesmith::workload
