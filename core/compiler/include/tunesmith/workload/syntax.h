// The text of a workload as a tree, before names mean anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// Where in the file; counts from 1.
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

/// `name<extent`, or `name` where an earlier statement gave the extent (then it is null).
struct AxisSyntax {
  std::string name;
  Place place;
  SyntaxPtr extent;
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::Integer;
  Place place;  // of a Binary, its operator's
  std::string name;
  int64_t integer = 0;
  double real = 0.0;
  std::vector<SyntaxPtr> args;
  std::vector<AxisSyntax> axes;
  int depth = 1;  // of the tree from here down
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
