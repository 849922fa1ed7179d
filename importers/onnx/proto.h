// The messages of ONNX's format, from libonnx-dev. A separate header, since few files should include this
// large one.
#pragma once

#include <onnx/onnx_pb.h>
