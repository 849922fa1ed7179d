#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/expr_text.h"
#include "text/kernel_text.h"

namespace tunesmith::cuda {

std::string program_text(std::span<const KernelText> kernels) {
  std::set<std::string> helpers;
  std::string text;
  for (const KernelText& kernel : kernels) {
    helpers.insert(kernel.helpers.begin(), kernel.helpers.end());
    if (kernel.needs_header && text.empty()) text = "#include \"tunesmith_device.cuh\"\n\n";
  }
  if (!helpers.empty()) text += helper_texts(helpers) + "\n";
  for (const KernelText& kernel : kernels) {
    const size_t shared = kernel.launch.dynamic_shared_bytes;
    text += fmt::format("// {} <<<({}), ({}){}>>>\n{}\n", kernel.name, fmt::join(kernel.launch.grid, ", "),
                        fmt::join(kernel.launch.block, ", "), shared > 0 ? fmt::format(", {}", shared) : "",
                        kernel.text);
  }
  return text;
}

}  // namespace tunesmith::cuda
