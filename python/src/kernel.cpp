#include "kernel.h"

#include <array>
#include <cstdlib>
#include <list>
#include <map>
#include <optional>
#include <span>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <tunesmith/runtime/pool.h>
#include <tunesmith/target/separate_device.h>

#include "arrays.h"
#include "errors.h"

namespace tunesmith::python {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory aligned_memory(int64_t bytes) {
  constexpr size_t kAlignment = 64;
  if (bytes <= 0) return nullptr;
  const size_t whole = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  Memory memory(std::aligned_alloc(kAlignment, whole));
  if (!memory) throw EnvironmentError(fmt::format("no {} bytes of memory for a kernel", whole));
  return memory;
}

/// One pool for each number of threads, for the life of the process: kernels called in turn share threads.
tunesmith_runtime_pool* pool_of(int threads) {
  static std::mutex g_mutex;
  static auto& g_pools =
      *new std::map<int, tunesmith_runtime_pool*>();  // its threads may run when statics go
  if (threads == 1) return nullptr;
  const std::lock_guard lock(g_mutex);
  tunesmith_runtime_pool*& pool = g_pools[threads];
  if (pool == nullptr) pool = tunesmith_runtime_pool_create(threads);
  return pool;
}

/// Sets the calling thread's floating-point mode to that of verification.
class DefaultFloatMode {
 public:
  DefaultFloatMode() : found_(tunesmith_runtime_float_mode()) {
    tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  }
  ~DefaultFloatMode() { tunesmith_runtime_set_float_mode(found_); }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  uint64_t found_;
};

/// Views of a call's arrays. Most calls have few, which need no allocation.
class Views {
 public:
  void* add(nb::handle array, const BufferNode& buffer, size_t position, bool write) {
    if (count_ < first_.size()) return first_[count_++].emplace(array, buffer, position, write).data();
    return rest_.emplace_back(array, buffer, position, write).data();
  }

 private:
  std::array<std::optional<ArrayView>, 6> first_;
  size_t count_ = 0;
  std::list<ArrayView> rest_;
};

class Kernel {
 public:
  Kernel(std::shared_ptr<HeldSpace> space, WorkloadPtr workload, CompiledKernel compiled, int threads,
         std::string provenance);

  nb::object call(nb::handle arrays, nb::handle out);
  void constants_changed() {
    const std::lock_guard lock(mutex_);
    prepared_for_.clear();
  }
  const WorkloadPtr& workload() const { return workload_; }
  int threads() const { return threads_; }
  bool prepares() const { return compiled_.prepare.has_value(); }
  const std::string& provenance() const { return provenance_; }

 private:
  const Program& program() const { return workload_->program; }
  using Arrays = boost::container::small_vector<nb::object, 2>;
  using Buffers = boost::container::small_vector<void*, 8>;

  Arrays outputs(nb::handle out, nb::handle like) const;
  /// Called without the interpreter's lock. Returns whether constant inputs were prepared.
  bool run(Buffers& buffers);

  std::shared_ptr<HeldSpace> space_;
  WorkloadPtr workload_;
  CompiledKernel compiled_;
  int threads_;
  std::string provenance_;
  tunesmith_runtime_pool* pool_;
  std::unique_ptr<LoadedKernel> loaded_;
  Memory workspace_;
  Memory prepared_;
  std::vector<nb::object> makers_;  // of the outputs

  std::mutex mutex_;                   // for the workspace and the prepared memory
  std::vector<void*> prepared_for_;    // the constant inputs' memory; empty: nothing is prepared
  std::vector<nb::object> constants_;  // kept alive, so that their addresses are not reused
};

Kernel::Kernel(std::shared_ptr<HeldSpace> space, WorkloadPtr workload, CompiledKernel compiled, int threads,
               std::string provenance)
    : space_(std::move(space)),
      workload_(std::move(workload)),
      compiled_(std::move(compiled)),
      threads_(threads),
      provenance_(std::move(provenance)),
      pool_(pool_of(threads)),
      workspace_(aligned_memory(compiled_.workspace_bytes)),
      prepared_(aligned_memory(compiled_.prepare ? compiled_.prepare->bytes : 0)) {
  {
    const std::lock_guard lock(space_->target);
    loaded_ = space_->space->target().load(compiled_);
  }
  for (const Buffer& output : program().outputs) makers_.push_back(array_maker(*output));
}

Kernel::Arrays Kernel::outputs(nb::handle out, nb::handle like) const {
  Arrays arrays;
  if (out.is_none()) {
    for (const nb::object& maker : makers_) arrays.push_back(maker(like));
  } else if (nb::isinstance<nb::tuple>(out) || nb::isinstance<nb::list>(out)) {
    for (const nb::handle array : out) arrays.push_back(nb::borrow(array));
  } else {
    arrays.push_back(nb::borrow(out));
  }
  if (arrays.size() != program().outputs.size())
    throw UserError(fmt::format("out: expected {} arrays, not {}", program().outputs.size(), arrays.size()));
  return arrays;
}

nb::object one_or_tuple(std::span<const nb::object> arrays) {
  if (arrays.size() == 1) return arrays.front();
  nb::list list;
  for (const nb::object& array : arrays) list.append(array);
  return nb::tuple(list);
}

/// Refuses outputs that overlap inputs: results would be wrong.
void refuse_overlaps(const Program& program, std::span<void* const> buffers) {
  const size_t inputs = program.inputs.size();
  const auto bytes = [&](size_t i) {
    return i < inputs ? program.inputs[i]->bytes() : program.outputs[i - inputs]->bytes();
  };
  for (size_t output = inputs; output < inputs + program.outputs.size(); ++output) {
    const auto* const begin = static_cast<const std::byte*>(buffers[output]);
    for (size_t other = 0; other < output; ++other) {
      const auto* const there = static_cast<const std::byte*>(buffers[other]);
      if (begin < there + bytes(other) && there < begin + bytes(output))
        throw UserError(fmt::format("out: the memory of argument {} is written while it is read", other + 1),
                        "give arrays that share no memory");
    }
  }
}

bool Kernel::run(Buffers& buffers) {
  const std::lock_guard lock(mutex_);
  const DefaultFloatMode mode;
  bool prepares = false;
  if (compiled_.prepare) {
    buffers.push_back(prepared_.get());
    std::vector<void*> constants;
    for (const size_t position : compiled_.prepare->reads) constants.push_back(buffers[position]);
    prepares = constants != prepared_for_;
    if (prepares) {
      loaded_->prepare()(buffers.data(), workspace_.get(), tunesmith_runtime_parallel_for, pool_);
      prepared_for_ = std::move(constants);
    }
  }
  loaded_->entry()(buffers.data(), workspace_.get(), tunesmith_runtime_parallel_for, pool_);
  if (compiled_.setup) {
    if (const std::optional<KernelFault> fault = loaded_->take_fault())
      throw EnvironmentError(fault->message);
  }
  return prepares;
}

nb::object Kernel::call(nb::handle given, nb::handle out) {
  require_own_process();
  const Program& program = workload_->program;
  const size_t inputs = program.inputs.size();
  const nb::tuple arrays = nb::borrow<nb::tuple>(given);
  if (arrays.size() != inputs)
    throw UserError(fmt::format("{} takes {} arrays, not {}", workload_->name, inputs, arrays.size()));
  const Arrays results = outputs(out, inputs > 0 ? nb::handle(arrays[0]) : nb::none());
  Views views;
  Buffers buffers;
  buffers.reserve(inputs + program.outputs.size() + 1);
  for (size_t i = 0; i < inputs; ++i) buffers.push_back(views.add(arrays[i], *program.inputs[i], i, false));
  for (size_t i = 0; i < program.outputs.size(); ++i)
    buffers.push_back(views.add(results[i], *program.outputs[i], inputs + i, true));
  refuse_overlaps(program, std::span<void* const>(buffers.data(), buffers.size()));
  bool prepared = false;
  {
    const nb::gil_scoped_release unlocked;
    prepared = run(buffers);
  }
  if (prepared) {
    constants_.clear();
    for (const size_t position : compiled_.prepare->reads) constants_.emplace_back(arrays[position]);
  }
  return one_or_tuple({results.data(), results.size()});
}

std::string kernel_text(const Kernel& kernel) {
  std::string text;
  for (const Buffer& input : kernel.workload()->program.inputs)
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ", input->name, type_text(input->dtype, input->shape));
  std::string results;
  for (const Buffer& output : kernel.workload()->program.outputs)
    results += fmt::format("{}{}", results.empty() ? "" : ", ", type_text(output->dtype, output->shape));
  return fmt::format("Kernel {}({}) -> {}  # {}", kernel.workload()->name, text, results,
                     kernel.provenance());
}

/// k(A, B, out=C). Avoids nanobind's call protocol, whose overhead is noticeable for kernels of microseconds.
PyObject* call_kernel(PyObject* self, PyObject* arrays, PyObject* named) noexcept {
  try {
    nb::handle out = nb::handle(Py_None);
    if (named != nullptr && PyDict_Size(named) > 0) {
      PyObject* const given = PyDict_GetItemString(named, "out");
      if (given == nullptr || PyDict_Size(named) > 1)
        throw UserError("a kernel takes arrays, and out=", "give the inputs in their order, without names");
      out = given;
    }
    return nb::inst_ptr<Kernel>(self)->call(arrays, out).release().ptr();
  } catch (...) {
    set_error(std::current_exception());
    return nullptr;
  }
}

PyType_Slot kKernelSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};

}  // namespace

KernelObject kernel_of(std::shared_ptr<HeldSpace> space, WorkloadPtr workload, CompiledKernel compiled,
                       int threads, std::string provenance) {
  if (space->space->target().separate_device() != nullptr) {
    throw UserError(
        fmt::format("programs of the space '{}' run on a separate device and cannot be called from Python",
                    space->space->spec().name),
        "write them as a library: record.library(folder)");
  }
  return nb::cast<KernelObject>(nb::cast(
      new Kernel(std::move(space), std::move(workload), std::move(compiled), threads, std::move(provenance)),
      nb::rv_policy::take_ownership));
}

void bind_kernel(nb::module_& module) {
  nb::class_<Kernel>(module, "Kernel", R"(A compiled program: a callable.

    C = k(A, B)
    k(A, B, out=C)        into memory of yours; several outputs: a tuple

Arguments are arrays of exactly the shapes and types of `inputs`, row-major, in the processor's memory: numpy, torch, or
anything with the buffer protocol or DLPack; bf16 in numpy as the bits in uint16. Nothing is copied or converted; what
does not fit raises UserError in words. A call releases the interpreter's lock; calls of one kernel from several threads
follow one another.)",
                     nb::type_slots(kKernelSlots))
      .def("constants_changed", &Kernel::constants_changed,
           "To be called when the contents of a constant input were changed where they lie: what was "
           "prepared of them is "
           "prepared again by the next call. Other arrays in their place are noticed.")
      .def_prop_ro(
          "workload", [](const Kernel& self) { return WorkloadRef{self.workload()}; },
          "The Workload that it computes.")
      .def_prop_ro(
          "inputs", [](const Kernel& self) { return buffers_of(self.workload()->program.inputs); },
          "What a call takes, in this order: a list of Buffer.")
      .def_prop_ro(
          "outputs", [](const Kernel& self) { return buffers_of(self.workload()->program.outputs); },
          "What a call answers, in this order: a list of Buffer.")
      .def_prop_ro("threads", &Kernel::threads, "That a call runs on, the caller's among them.")
      .def_prop_ro("prepares", &Kernel::prepares, "Does the first call prepare something of constant inputs?")
      .def_prop_ro("provenance", &Kernel::provenance, "The workload, the record and its time.")
      .def("__repr__", &kernel_text);
}

}  // namespace tunesmith::python
