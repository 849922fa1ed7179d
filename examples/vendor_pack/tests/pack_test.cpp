// pack_test FOLDER SPACES: Acme's module takes the products of Acme's space, and nothing else.
#include <cstdio>

#include <tunesmith/space/space.h>
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

bool expect(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "wrong: %s\n", what);
  return condition;
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
    right &= expect(applications(space, "relu:n=16,m=16", "acme_tile") == 0,
                    "acme_tile leaves elementwise work alone");
    return right ? 0 : 1;
  } catch (const tunesmith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
