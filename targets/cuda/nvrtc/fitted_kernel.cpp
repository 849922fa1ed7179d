#include "nvrtc/fitted_kernel.h"

#include <utility>

namespace tunesmith::cuda {

FittedKernel fit_kernel(const KernelCompiler& compiler, const Architecture& architecture,
                        const std::function<KernelText(TextForm)>& write) {
  FittedKernel first;
  double seconds = 0;
  for (const TextForm form : {TextForm::Usual, TextForm::OneBlock, TextForm::Rolled}) {
    FittedKernel one{write(form), form, {}, std::nullopt, 0};
    Compilation compilation =
        compiler.compile(program_text({&one.text, 1}), one.text.name + ".cu", architecture.name);
    one.refusal = refuse(compilation, one.text.name, architecture, one.text.launch, one.text.stack_bytes);
    one.cubin = std::move(compilation.cubin);
    one.cpu_seconds = seconds += compilation.cpu_seconds;
    const bool fits = !one.refusal;
    if (fits || form == TextForm::Usual) first = std::move(one);
    if (fits || first.refusal->cause != RefusalCause::Spills) return first;
  }
  first.cpu_seconds = seconds;
  return first;
}

}  // namespace tunesmith::cuda
