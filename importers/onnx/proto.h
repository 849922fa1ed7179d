// The messages of ONNX's format, as Debian's libonnx-dev has them. A source file of its own includes this: it
// is large.
#pragma once

#include <onnx/onnx_pb.h>
