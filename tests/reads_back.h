// Checks that a program's text is complete.
#pragma once

#include <string>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>

namespace tunesmith::test {

/// "" if the program's text is read as the same program and printed as the same text.
inline std::string reads_back(const Program& program) {
  const std::string text = to_string(program);
  const Program again = parse_program(text);
  if (to_string(again) != text)
    return "printed, read and printed it is\n" + to_string(again) + "not\n" + text;
  return structural_hash(again) == structural_hash(program) ? ""
                                                            : "read back it is another program:\n" + text;
}

}  // namespace tunesmith::test
