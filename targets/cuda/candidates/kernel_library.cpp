#include "candidates/kernel_library.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "candidates/candidate_object.h"
#include "machine/vector_loops.h"
#include "nvrtc/kernel_compiler.h"
#include "support/support_folder.h"
#include "text/expr_text.h"

namespace tunesmith::cuda {
namespace {

namespace fs = std::filesystem;

/// The dynamic shared memory that a launch gets without a special request.
constexpr size_t kGrantedSharedBytes = size_t{48} * 1024;

void write_file(const fs::path& path, const std::string& content) {
  const fs::path unfinished = path.string() + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written", path.string()));
  std::error_code error;
  fs::rename(unfinished, path, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", path.string(), error.message()));
}

bool is_identifier(const std::string& name) {
  const auto part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, part);
}

/// In plain C; a 16-bit float is represented by its bits.
std::string c_type(DType type) {
  if (type.is_float() && type.bits >= 32) return type.bits == 64 ? "double" : "float";
  if (type.is_bool()) return "uint8_t";
  const bool is_signed = !type.is_float() && !type.is_unsigned_int();
  return fmt::format("{}int{}_t", is_signed ? "" : "u", type.bits);
}

/// The parameters of the library's function that are buffers.
struct Parameter {
  std::string name;
  Buffer buffer;
  bool output = false;

  std::string text() const {
    return fmt::format("{}{}* {}", output ? "" : "const ", c_type(buffer->dtype), name);
  }
};

std::vector<Parameter> parameters_of(const Program& program, const std::string& function) {
  Names names;
  for (const char* taken : {"workspace", "stream"}) names.fresh(taken);
  names.fresh(function);
  std::vector<Parameter> parameters;
  for (const Buffer& buffer : program.inputs)
    parameters.push_back({names.fresh(buffer->name), buffer, false});
  for (const Buffer& buffer : program.outputs)
    parameters.push_back({names.fresh(buffer->name), buffer, true});
  return parameters;
}

std::string signature(const std::string& name, const std::vector<Parameter>& parameters) {
  std::vector<std::string> texts;
  for (const Parameter& parameter : parameters) texts.push_back(parameter.text());
  return fmt::format("int {}({}, void* workspace, void* stream)", name, fmt::join(texts, ", "));
}

/// Escapes a text for a comment.
std::string comment_of(std::string text) {
  for (const char* mark : {"*/", "/*"}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) text.insert(at + 1, " ");
  }
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\\', '/');
  return text;
}

std::string header_text(const LibraryRequest& request, const std::vector<Parameter>& parameters) {
  std::string guard = request.name;
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string buffers;
  for (const Parameter& parameter : parameters) {
    buffers += fmt::format("     {}: {} {}[{}]\n", parameter.name, parameter.output ? "output" : "input",
                           parameter.buffer->dtype.str(), fmt::join(parameter.buffer->shape, ", "));
  }
  return fmt::format(R"(/* {0} */
#ifndef {1}_H
#define {1}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Bytes of device memory that a call needs besides its arguments; `workspace` may be null where they are 0. */
#define {1}_WORKSPACE_BYTES {2}

/* Launches the kernels on `stream`, a cudaStream_t (null: the default one), and returns before they have run: 0, or
   the cudaError_t that says why they could not be launched. Pointers are of device memory, row-major, and begin at
   multiples of {3} bytes, as cudaMalloc gives them. Calls that run at once need a workspace each.
{4}*/
{5};

#ifdef __cplusplus
}}
#endif
#endif
)",
                     comment_of(request.provenance), guard, request.kernel->workspace_bytes, kAccessBytes,
                     buffers, signature(request.name, parameters));
}

/// Encodes a map by the driver's function, which the runtime finds.
constexpr const char* kEncode =
    R"(static cudaError_t tunesmith_encode(TensorMap* map, const void* address, unsigned rank, const unsigned long long* extents,
                                    const unsigned long long* row_bytes, const unsigned* box) {
  typedef int (*Encode)(TensorMap*, int, unsigned, void*, const unsigned long long*, const unsigned long long*, const unsigned*,
                        const unsigned*, int, int, int, int);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  if (const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found)) return error;
#else
  if (const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found)) return error;
#endif
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const unsigned steps[] = {1, 1, 1, 1};
  // 16-bit elements, 128-byte swizzle, lines of 128 bytes in L2; what lies outside is zero.
  return ((Encode)function)(map, 1, rank, (void*)address, extents, row_bytes, box, steps, 0, 3, 2, 0) == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

)";

/// Encodes the map of this number.
std::string map_text(const BoxedTensor& tensor, int number, const std::string& pointer) {
  std::vector<uint64_t> row_bytes;
  for (size_t d = 1; d < tensor.rank; ++d) row_bytes.push_back(uint64_t{2} * tensor.strides[d]);
  return fmt::format(
      "  TensorMap map{0};\n"
      "  const unsigned long long extents{0}[] = {{{3}}}, row_bytes{0}[] = {{{4}}};\n"
      "  const unsigned box{0}[] = {{{5}}};\n"
      "  if (const cudaError_t error = tunesmith_encode(&map{0}, {1}, {2}, extents{0}, row_bytes{0}, "
      "box{0}))\n"
      "    return (int)error;\n",
      number, pointer, tensor.rank, fmt::join(std::span(tensor.extents).first(tensor.rank), ", "),
      fmt::join(row_bytes, ", "), fmt::join(std::span(tensor.box).first(tensor.rank), ", "));
}

bool has_maps(const CandidateObject& object) {
  return std::ranges::any_of(object.launches, [](const ObjectLaunch& launch) {
    return std::ranges::any_of(launch.arguments, &ObjectArgument::is_map);
  });
}

std::string host_text(const LibraryRequest& request, const CandidateObject& object,
                      const std::vector<Parameter>& parameters) {
  std::vector<std::string> pointers;
  for (const Parameter& parameter : parameters) pointers.push_back("(const void*)" + parameter.name);
  pointers.emplace_back("(const void*)workspace");
  std::string text = has_maps(object) ? kEncode : "";
  text += fmt::format(
      "extern \"C\" {} {{\n  for (const void* pointer : {{{}}}) {{\n"
      "    if ((size_t)pointer % {} != 0) return (int)cudaErrorMisalignedAddress;\n  }}\n",
      signature(request.name, parameters), fmt::join(pointers, ", "), kAccessBytes);
  int maps = 0;
  for (const ObjectLaunch& launch : object.launches) {
    std::vector<std::string> arguments;
    for (const ObjectArgument& argument : launch.arguments) {
      const std::string pointer = argument.in_workspace
                                      ? fmt::format("((char*)workspace + {})", argument.position)
                                      : parameters.at(static_cast<size_t>(argument.position)).name;
      if (!argument.is_map()) {
        arguments.push_back(fmt::format("({}*){}", argument.type, pointer));
        continue;
      }
      arguments.push_back(fmt::format("map{}", maps));
      text += map_text(argument.tensor, maps++, pointer);
    }
    const size_t dynamic_bytes = launch.launch.dynamic_shared_bytes;
    if (dynamic_bytes > kGrantedSharedBytes) {
      text += fmt::format(
          "  if (const cudaError_t error = cudaFuncSetAttribute((const void*){}, "
          "cudaFuncAttributeMaxDynamicSharedMemorySize, {}))\n    return (int)error;\n",
          launch.kernel, dynamic_bytes);
    }
    text += fmt::format(
        "  {}<<<dim3({}), dim3({}), {}, (cudaStream_t)stream>>>({});\n"
        "  if (const cudaError_t error = cudaGetLastError()) return (int)error;\n",
        launch.kernel, fmt::join(launch.launch.grid, ", "), fmt::join(launch.launch.block, ", "),
        dynamic_bytes, fmt::join(arguments, ", "));
  }
  return text + "  return 0;\n}\n";
}

}  // namespace

LibraryFiles write_library(const LibraryRequest& request, const Architecture& architecture) {
  if (!is_identifier(request.name))
    throw UserError(fmt::format("'{}' cannot be the name of a library: it is no C identifier", request.name));
  const CandidateObject object = CandidateObject::parse(request.kernel->object);
  const std::vector<Parameter> parameters = parameters_of(*request.program, request.name);
  const fs::path base = fs::path(request.directory) / request.name;
  LibraryFiles files{base.string() + ".cu", base.string() + ".h"};
  const std::string text = fmt::format(
      "// {}\n// nvcc -gencode arch=compute_{},code={} -c {}.cu\n{}\n#ifndef __CUDACC_RTC__  // for the "
      "host\n#include "
      "\"{}.h\"\n\n{}#endif\n",
      comment_of(request.provenance), architecture.name.substr(3), architecture.name, request.name,
      object.source, request.name, host_text(request, object, parameters));
  write_file(files.library, text);
  write_file(files.header, header_text(request, parameters));
  if (object.source.find("tunesmith_device.cuh") != std::string::npos) {
    files.others.push_back((base.parent_path() / "tunesmith_device.cuh").string());
    std::ifstream header(support_folder() / "device" / "tunesmith_device.cuh", std::ios::binary);
    write_file(files.others.back(), {std::istreambuf_iterator<char>(header), {}});
  }
  if (const Nvrtc* const nvrtc = Nvrtc::find()) {
    const Compilation compilation =
        KernelCompiler(*nvrtc).compile(object.source, request.name + ".cu", architecture.name);
    if (!compilation.succeeded)
      throw EnvironmentError(fmt::format("NVRTC does not compile {}.cu: {}", request.name, compilation.log));
    files.others.push_back(base.string() + ".cubin");
    write_file(files.others.back(), compilation.cubin);
  }
  return files;
}

}  // namespace tunesmith::cuda
