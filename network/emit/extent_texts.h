// C texts for libraries with varying extents, in addition to library_texts.h.
#pragma once

namespace tunesmith::network {

/// For the header.
inline constexpr const char* kOutputShape =
    R"(/* Writes the extents of an output for these inputs into `shape`, which has room for all its axes. Reads only the inputs' shapes. */
int @NAME@_output_shape(const DLTensor* const* inputs, int output, int64_t* shape);

)";

inline constexpr const char* kReadExtents = R"(
enum { kExtents = @EXTENT_COUNT@, kMaxRank = @MAX_RANK@ };
/* What varies, and where a call's values stand: an axis of an input. */
static const struct {
  int64_t lowest, highest;
  int input, axis;
} ranges[kExtents] = {@RANGES@};
/* The extents of arguments: a number, and what each of these values is multiplied by. */
static const int64_t forms[][kMaxRank][1 + kExtents] = {
@FORMS@};

static int read_extents(const DLTensor* const* inputs, int64_t* extents) {
  for (int i = 0; i < kExtents; ++i) {
    const int input = ranges[i].input;
    const DLTensor* tensor = inputs[input];
    if (tensor == NULL || tensor->shape == NULL) return @NAME@_NULL_ARGUMENT + 256 * input;
    if (tensor->ndim != arguments[input].rank) return @NAME@_WRONG_RANK + 256 * input;
    extents[i] = tensor->shape[ranges[i].axis];
    if (extents[i] < ranges[i].lowest || extents[i] > ranges[i].highest) return @NAME@_WRONG_SHAPE + 256 * input;
  }
  return @NAME@_OK;
}

static void make_shape(int argument, const int64_t* extents, int64_t* shape) {
  for (int axis = 0; axis < arguments[argument].rank; ++axis) {
    shape[axis] = forms[argument][axis][0];
    for (int i = 0; i < kExtents; ++i) shape[axis] += forms[argument][axis][1 + i] * extents[i];
  }
}

EXPORTED int @NAME@_output_shape(const DLTensor* const* inputs, int output, int64_t* shape) {
  int64_t extents[kExtents];
  if (inputs == NULL || shape == NULL || output < 0 || output >= @NAME@_OUTPUTS) return @NAME@_NULL_ARGUMENT;
  const int wrong = read_extents(inputs, extents);
  if (wrong == @NAME@_OK) make_shape(@NAME@_INPUTS + output, extents, shape);
  return wrong;
}
)";
inline constexpr const char* kCallReadExtents = R"(  int64_t extents[kExtents];
  const int out_of_range = read_extents(inputs, extents);
  if (out_of_range != @NAME@_OK) return out_of_range;
)";
inline constexpr const char* kMakeShape = R"(    int64_t shape[kMaxRank];
    make_shape(i, extents, shape);
)";

}  // namespace tunesmith::network
