// pack_test FOLDER SPACES: Acme's module transforms the products of Acme's space and nothing else, and
// programs with the unit compute the product: interpreted by its semantics, and compiled by its emulation.
#include <cstdio>
#include <cstdlib>

#include <tunesmith/intrinsics/tensor_intrinsic.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/space/space.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

/// How often `module` transformed a block of the workload.
size_t applications(const Space& space, const char* workload, const char* module) {
  size_t count = 0;
  for (const ModuleEvent& event : space.generate(WorkloadLibrary().load(workload).program).events) {
    if (event.module == module && event.status == ModuleResult::Status::Applied) count += event.count;
  }
  return count;
}

size_t calls_of_the_unit(const Program& program) {
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  return collect<Loop>(program.root(), is_call).size();
}

/// Runs the candidate, compiled by the space's target, on one thread.
void run(const Space& space, const Candidate& candidate, std::vector<Tensor>& arguments) {
  const auto compiled = space.target().compile(candidate.lowered, "product");
  if (!compiled) throw EnvironmentError(compiled.error());
  const auto kernel = space.target().load(*compiled);
  std::vector<void*> buffers;
  for (Tensor& argument : arguments) buffers.push_back(argument.bytes.data());
  const auto bytes = static_cast<size_t>(compiled->workspace_bytes + 63) / 64 * 64;
  void* workspace = std::aligned_alloc(64, bytes + 64);
  kernel->entry()(
      buffers.data(), workspace,
      [](void*, int64_t count, tunesmith_loop_body body, void* closure) { body(closure, 0, count); },
      nullptr);
  std::free(workspace);
}

bool expect(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "wrong: %s\n", what);
  return condition;
}

bool candidates_are_right(const Space& space, const Workload& product) {
  std::vector<Tensor> arguments;
  for (const Buffer& input : product.program.inputs) arguments.push_back(Tensor::like(*input));
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].fill_random(i);
  arguments.push_back(Tensor::like(*product.program.outputs[0]));
  std::vector<Tensor> wanted = arguments;
  interpret(product.program, wanted);

  const Trace sketch = space.generate(product.program).sketches.at(0).trace().with_open_decisions();
  bool right = true;
  for (uint64_t i = 0; i < 8; ++i) {
    const auto candidate = space.materialise(product.program, sketch, RandomStream(1, i));
    if (!expect(candidate.has_value(), "every candidate can be lowered")) return false;
    std::vector<Tensor> interpreted = arguments;
    std::vector<Tensor> compiled = arguments;
    interpret((*candidate)->lowered.program, interpreted);
    run(space, **candidate, compiled);
    right &= expect(calls_of_the_unit((*candidate)->lowered.program) > 0, "every candidate calls the unit");
    right &= expect(max_error(interpreted.back(), wanted.back()) < 1e-4, "the semantics give the product");
    right &= expect(max_error(compiled.back(), wanted.back()) < 1e-4, "the emulation gives the product");
  }
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    PluginSearch search;
    search.command_line = {{arguments[1]}};
    PluginRegistry registry(search);
    const Space space(SpacesFile::load(arguments[2]).space("cpu-acme"), registry);
    const char* product = "gmm:n=32,m=48,k=64";
    bool right = expect(applications(space, product, "acme_tile") > 0, "acme_tile takes a product");
    right &= expect(applications(space, product, "multi_level_tiling") == 0,
                    "the claim keeps generic tiling away");
    right &= expect(applications(space, "gmm:n=32,m=40,k=64", "acme_tile") == 0,
                    "acme_tile leaves what is no multiple of the unit alone");
    right &= expect(applications(space, "relu:n=16,m=16", "acme_tile") == 0,
                    "acme_tile leaves elementwise work alone");
    right &= candidates_are_right(space, WorkloadLibrary().load(product));
    return right ? 0 : 1;
  } catch (const tunesmith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
