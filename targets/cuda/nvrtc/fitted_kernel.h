// Compiles a kernel in the first of its forms that needs no spills.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "machine/architecture.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/refusal.h"
#include "text/kernel_text.h"

namespace tunesmith::cuda {

struct FittedKernel {
  KernelText text;
  TextForm form = TextForm::Usual;
  std::string cubin;
  std::optional<Refusal> refusal;  // of the usual form, if no form fits
  double cpu_seconds = 0;          // of all compilations
};

/// Compiles the kernel in its usual form and, as long as it spills, in the others: `write` writes it in one.
FittedKernel fit_kernel(const KernelCompiler& compiler, const Architecture& architecture,
                        const std::function<KernelText(TextForm)>& write);

}  // namespace tunesmith::cuda
