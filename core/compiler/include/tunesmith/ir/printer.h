// Prints programs in one stable, readable form, for golden tests, errors, reports and `trace show`.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

std::string to_string(const Expr& expr);
/// `mark`, if given, is a statement whose first line is underlined with carets.
std::string to_string(const Program& program, const Stmt* mark = nullptr);
std::string to_string(const Stmt& stmt, const Stmt* mark = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
