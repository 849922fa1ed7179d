// The syntax tree of a workload's text, before names are resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// A position in the file; line and column count from 1.
struct Place {
  int line = 0;
  int column = 0;
};

enum class SyntaxKind : uint8_t {
  Integer,
  Real,
  Name,
  Negate,
  Not,
  Binary,  // name holds the operator
  Call,    // name(args)
  Access,  // name[args]
  Reduce   // name(axes) args[0]
};

struct Syntax;
using SyntaxPtr = std::unique_ptr<Syntax>;

/// `name<extent`, or `name` with the extent (here null) of an earlier axis of that name.
struct AxisSyntax {
  std::string name;
  Place place;
  SyntaxPtr extent;
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::Integer;
  Place place;  // of a Binary: of its operator
  std::string name;
  int64_t integer = 0;
  double real = 0.0;
  std::vector<SyntaxPtr> args;
  std::vector<AxisSyntax> axes;
  int depth = 1;  // of this subtree
};

/// `target[axes] = value`
struct StatementSyntax {
  std::string target;
  Place place;
  std::vector<AxisSyntax> axes;
  SyntaxPtr value;
};

}  // namespace tunesmith::workload
#pragma GCC visibility pop
