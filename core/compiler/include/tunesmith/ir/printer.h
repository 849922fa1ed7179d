// One stable, readable text of programs, used in golden tests, errors, reports and `trace show`.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

std::string to_string(const Expr& expr);
/// `mark`, when given, is a statement whose first line gets a line of carets under it.
std::string to_string(const Program& program, const Stmt* mark = nullptr);
std::string to_string(const Stmt& stmt, const Stmt* mark = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
