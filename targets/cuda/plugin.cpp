#include <tunesmith/plugin/plugin.h>

#include "cuda_target.h"

TUNESMITH_PLUGIN(tunesmith::cuda::CudaTarget, tunesmith::PluginKind::Target, "cuda", "0.1.0",
                 "writes CUDA C++ for a grid of threads, and runs it on a GPU, or on an emulated device with "
                 "modelled times",
                 tunesmith::cuda::CudaTarget::specs());
