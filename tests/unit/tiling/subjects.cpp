#include "unit/tiling/subjects.h"

#include <memory>

#include "api/handles.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/workload/library.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith_test {

tunesmith_schedule* make_schedule(const char* workload) {
  using namespace tunesmith;
  static const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/unit/tiling/unit.yaml");
  return new tunesmith_schedule(Schedule(WorkloadLibrary().load(workload).program, RandomStream(1),
                                         std::make_shared<const TensorIntrinsics>(extension->intrinsics())));
}

}  // namespace tunesmith_test
