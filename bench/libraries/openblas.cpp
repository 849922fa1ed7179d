#include "problem.h"

#if TUNESMITH_OPENBLAS
#include <cblas.h>
#endif

namespace tunesmith::bench {

#if TUNESMITH_OPENBLAS
std::vector<Contestant> openblas(const Problem& problem, int threads) {
  const Buffer& input = problem.workload().program.inputs[0];
  if (problem.workload().name != "gmm" || input->dtype != kF32 || problem.parameter("b") != 1) return {};
  openblas_set_num_threads(threads);
  const auto n = static_cast<blasint>(problem.parameter("n")),
             m = static_cast<blasint>(problem.parameter("m")),
             k = static_cast<blasint>(problem.parameter("k"));
  const auto* a = static_cast<const float*>(problem.input(0));
  const auto* b = static_cast<const float*>(problem.input(1));
  const std::shared_ptr<void> c = aligned(problem.output()->bytes());
  return {{"OpenBLAS",
           [=] {
             cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, k, 1, a, k, b, m, 0,
                         static_cast<float*>(c.get()), m);
           },
           [=, &problem] { return problem.difference_from(c.get()); }}};
}
#else
std::vector<Contestant> openblas(const Problem& /*problem*/, int /*threads*/) { return {}; }
#endif

}  // namespace tunesmith::bench
