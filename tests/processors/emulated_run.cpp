#include "emulated_run.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "temporary_folder.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith::testing {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNeeded[] = {"clang-19", "mold", "qemu-aarch64"};

void run(const std::vector<std::string>& command) {
  const auto result = run_process(command);
  if (result.end.status() != 0)
    throw Error(fmt::format("{} ended with {}: {}", command.front(), result.end.status(), result.output));
}

void write_number(std::ofstream& file, int64_t number) {
  file.write(reinterpret_cast<const char*>(&number), sizeof number);
}

void write_arguments(const std::string& path, const CompiledKernel& kernel,
                     const std::vector<Tensor>& arguments) {
  std::ofstream file(path, std::ios::binary);
  write_number(file, static_cast<int64_t>(arguments.size()));
  write_number(file, kernel.workspace_bytes);
  for (const Tensor& argument : arguments) write_number(file, static_cast<int64_t>(argument.bytes.size()));
  for (const Tensor& argument : arguments)
    file.write(reinterpret_cast<const char*>(argument.bytes.data()),
               static_cast<std::streamsize>(argument.bytes.size()));
}

}  // namespace

std::string missing_for_emulation() {
  for (const char* name : kNeeded) {
    if (find_in_path({name}).empty()) return name;
  }
  return "";
}

std::vector<Tensor> run_emulated(const CompiledKernel& kernel, std::vector<Tensor> arguments,
                                 int64_t sve_bits) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "kernel.o", std::ios::binary) << kernel.object;
  write_arguments(folder / "in", kernel, arguments);
  run({find_in_path({"clang-19"}), "--target=aarch64-linux-gnu", "-O1", "-ffreestanding",
       "-fno-stack-protector", "-nostdlib", "-static", "-fuse-ld=mold", "-I", KERNEL_ABI_FOLDER,
       CALLER_SOURCE, folder / "kernel.o", "-o", folder / "program"});
  constexpr int64_t kGranule = 128;
  const std::string processor = sve_bits == 0 ? "cortex-a76"
                                              : fmt::format("max,sve-max-vq={},sve-default-vector-length={}",
                                                            sve_bits / kGranule, sve_bits / 8);
  run({"/bin/sh", "-c", "exec \"$0\" -cpu \"$1\" \"$2\" < \"$3\" > \"$4\"", find_in_path({"qemu-aarch64"}),
       processor, folder / "program", folder / "in", folder / "out"});
  std::ifstream file(folder / "out", std::ios::binary);
  for (Tensor& argument : arguments)
    file.read(reinterpret_cast<char*>(argument.bytes.data()),
              static_cast<std::streamsize>(argument.bytes.size()));
  if (!file) throw Error("the program wrote less than its buffers");
  return arguments;
}

}  // namespace tunesmith::testing
