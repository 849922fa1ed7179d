// Short ways for tests to read workloads from text.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith {

inline Workload workload_of(const std::string& yaml, const std::vector<ParamText>& given = {}) {
  return WorkloadDefinition::parse(yaml, "w.yaml").instantiate(given);
}

/// The error message, or "accepted".
inline std::string error_of(const std::string& yaml, const std::vector<ParamText>& given = {}) {
  try {
    workload_of(yaml, given);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

/// A workload over X[n, m], Y[m, n] of f32, I[n] of i32 whose statements are `compute`, each line indented by
/// two spaces: the first one is line 8 of the file and begins at column 3. `outputs` names the results; a
/// last output, Inputs, reads all inputs so that `compute` need not.
inline std::string with_statements(const std::string& compute, const std::string& outputs = "O") {
  std::string text =
      "name: test\n"
      "params: {n: 6, m: 8, t: f32}\n"
      "inputs:\n"
      "  X: {shape: [n, m], dtype: f32}\n"
      "  Y: {shape: [m, n], dtype: f32}\n"
      "  I: {shape: [n], dtype: i32}\n"
      "compute: |\n  ";
  for (const char c : compute) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text + "\n  Inputs[a<n] = X[a, 0] + Y[0, a] + f32(I[a])\noutputs: [" + outputs + ", Inputs]\n";
}

}  // namespace tunesmith
