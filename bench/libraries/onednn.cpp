#include "problem.h"

#if TUNESMITH_ONEDNN
#include <unordered_map>

#include <dnnl.hpp>
#endif

namespace tunesmith::bench {

#if TUNESMITH_ONEDNN
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

struct Engine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Engine& cpu() {
  static Engine instance;
  return instance;
}

memory::data_type type_of(const Buffer& buffer) {
  const DType type = buffer->dtype;
  if (type == kBF16) return memory::data_type::bf16;
  if (type == kU8) return memory::data_type::u8;
  if (type == kI8) return memory::data_type::s8;
  return type == kI32 ? memory::data_type::s32 : memory::data_type::f32;
}

/// The data in the primitive's layout, converted before the timing.
memory in_layout(const memory::desc& own, void* data, const memory::desc& wanted) {
  memory plain(own, cpu().engine, data);
  if (own == wanted) return plain;
  memory result(wanted, cpu().engine);
  dnnl::reorder(plain, result).execute(cpu().stream, plain, result);
  cpu().stream.wait();
  return result;
}

Contestant contestant(const Problem& problem, const std::string& name, const dnnl::primitive& primitive,
                      const Arguments& arguments) {
  return {name,
          [=] {
            primitive.execute(cpu().stream, arguments);
            cpu().stream.wait();
          },
          [&problem, result = arguments.at(DNNL_ARG_DST)] {
            return problem.difference_from(result.get_data_handle());
          }};
}

std::vector<Contestant> matmul(const Problem& problem) {
  const auto& inputs = problem.workload().program.inputs;
  const int64_t n = problem.parameter("n"), m = problem.parameter("m"), k = problem.parameter("k");
  const memory::desc a({n, k}, type_of(inputs[0]), Tag::ab), b({k, m}, type_of(inputs[1]), Tag::ab),
      c({n, m}, type_of(problem.output()), Tag::ab);
  std::vector<Contestant> result;
  for (const bool packed : {false, true}) {
    const memory::desc wanted = packed ? memory::desc({k, m}, type_of(inputs[1]), Tag::any) : b;
    const dnnl::matmul::primitive_desc description({a, wanted, c}, cpu().engine);
    result.push_back(
        contestant(problem, packed ? "oneDNN, packed weights" : "oneDNN", dnnl::matmul(description),
                   {{DNNL_ARG_SRC, in_layout(a, problem.input(0), a)},
                    {DNNL_ARG_WEIGHTS, in_layout(b, problem.input(1), description.weights_desc())},
                    {DNNL_ARG_DST, memory(c, cpu().engine)}}));
  }
  return result;
}

std::vector<Contestant> convolution(const Problem& problem, bool depthwise) {
  const auto& inputs = problem.workload().program.inputs;
  const auto& shape = problem.output()->shape;
  const int64_t h = problem.parameter("h"), w = problem.parameter("w"), kernel = problem.parameter("kernel"),
                stride = problem.parameter("stride"), padding = problem.parameter("padding");
  const int64_t ci = inputs[0]->shape[3], co = shape[3];
  const memory::dims weights =
      depthwise ? memory::dims{ci, 1, 1, kernel, kernel} : memory::dims{co, ci, kernel, kernel};
  const memory::desc x({1, ci, h, w}, type_of(inputs[0]), Tag::nhwc),
      plain(weights, type_of(inputs[1]), depthwise ? Tag::hwigo : Tag::hwio),
      any(weights, type_of(inputs[1]), Tag::any),
      y({1, co, shape[1], shape[2]}, type_of(problem.output()), Tag::nhwc);
  const dnnl::convolution_forward::primitive_desc description({dnnl::prop_kind::forward_inference,
                                                               dnnl::algorithm::convolution_direct,
                                                               x,
                                                               any,
                                                               y,
                                                               {stride, stride},
                                                               {padding, padding},
                                                               {padding, padding}},
                                                              cpu().engine);
  return {contestant(problem, "oneDNN, packed weights", dnnl::convolution_forward(description),
                     {{DNNL_ARG_SRC, in_layout(x, problem.input(0), x)},
                      {DNNL_ARG_WEIGHTS, in_layout(plain, problem.input(1), description.weights_desc())},
                      {DNNL_ARG_DST, memory(y, cpu().engine)}})};
}

std::vector<Contestant> softmax(const Problem& problem) {
  const memory::desc x({problem.parameter("m"), problem.parameter("n")}, memory::data_type::f32, Tag::ab);
  const dnnl::softmax_forward::primitive_desc description({dnnl::prop_kind::forward_inference, x, 1},
                                                          cpu().engine);
  return {contestant(
      problem, "oneDNN", dnnl::softmax_forward(description),
      {{DNNL_ARG_SRC, in_layout(x, problem.input(0), x)}, {DNNL_ARG_DST, memory(x, cpu().engine)}})};
}

}  // namespace

std::vector<Contestant> onednn(const Problem& problem) {
  const std::string& name = problem.workload().name;
  if (name == "gmm" && problem.parameter("b") == 1) return matmul(problem);
  const bool depthwise = name == "depthwise_conv2d";
  if (depthwise || name == "conv2d") {
    const bool plain = problem.parameter("dilation") == 1 && (depthwise || problem.parameter("groups") == 1);
    return plain ? convolution(problem, depthwise) : std::vector<Contestant>{};
  }
  return name == "softmax" ? softmax(problem) : std::vector<Contestant>{};
}
#else
std::vector<Contestant> onednn(const Problem& /*problem*/) { return {}; }
#endif

}  // namespace tunesmith::bench
