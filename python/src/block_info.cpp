// Questions about the blocks and loops of a schedule.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <tunesmith/analysis/accesses.h>
#include <tunesmith/analysis/blocks.h>

#include "errors.h"
#include "handles.h"

namespace tunesmith::python {
namespace {

/// A block's properties at the time of the query.
struct BlockInfo {
  std::string name;
  std::vector<IterVar> iterators;
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
  IterationCount count;
  Annotations annotations;
  bool untouched = false;
  bool tiled = false;
  bool elementwise = false;
  bool output = false;
};

const Block& block_of(const ScheduleRef& self, nb::handle which) {
  if (nb::isinstance<BlockHandle>(which)) {
    const BlockHandle& handle = nb::cast<const BlockHandle&>(which);
    require_own(handle, self);
    return self.value->block(BlockRV{handle.variable});
  }
  if (!nb::isinstance<nb::str>(which)) throw UserError("expected a Block or a block's name");
  const std::string name = nb::cast<std::string>(which);
  if (const Block* block = self.value->program().find_block(name)) return *block;
  std::vector<std::string> known;
  for (const Block* block : self.value->program().blocks()) known.push_back(block->name);
  throw UserError(fmt::format("there is no block '{}'", name), suggest(name, known));
}

std::vector<Buffer> buffers_in(const std::vector<Access>& accesses) {
  std::vector<Buffer> buffers;
  for (const Access& access : accesses) buffers.push_back(access.buffer);
  return buffers;
}

BlockInfo info_of(const ScheduleRef& self, const BlockLike& which) {
  const Block& block = block_of(self, which);
  return {block.name,
          block.iters,
          buffers_in(read_accesses(block)),
          buffers_in(write_accesses(block)),
          iteration_count(block),
          block.annotations,
          is_trivially_bound(block),
          needs_tiling(block),
          is_elementwise(block),
          writes_output(self.value->program(), block)};
}

const Loop& loop_of(const ScheduleRef& self, const LoopHandle& handle) {
  require_own(handle, self);
  return self.value->loop(LoopRV{handle.variable});
}

ListOf<nb::str> drives(const ScheduleRef& self, const LoopHandle& handle) {
  const LoopUse use = use_of(loop_of(self, handle));
  nb::list sorts;
  if (use.spatial) sorts.append("spatial");
  if (use.reduction) sorts.append("reduction");
  if (use.opaque) sorts.append("opaque");
  return sorts;
}

template <typename T>
auto field(T BlockInfo::* member) {
  return [member](const BlockInfo& self) { return self.*member; };
}

void bind_buffers(nb::class_<BlockInfo>& info) {
  info.def_prop_ro(
          "iterators",
          [](const BlockInfo& self) {
            ListOf<nb::typed<nb::tuple, nb::str, nb::str, int64_t>> list{nb::list()};
            for (const IterVar& iter : self.iterators)
              list.append(
                  nb::make_tuple(iter.var->name, std::string(iter_kind_name(iter.kind)), iter.extent));
            return list;
          },
          "A list of (name, \"spatial\", \"reduction\" or \"opaque\", extent).")
      .def_prop_ro(
          "reads", [](const BlockInfo& self) { return buffers_of(self.reads); },
          "The Buffer of each read, as `read_index` of a primitive counts them.")
      .def_prop_ro(
          "writes", [](const BlockInfo& self) { return buffers_of(self.writes); },
          "The Buffer of each write, as `write_index` of a primitive counts them.")
      .def_prop_ro(
          "annotations",
          [](const BlockInfo& self) -> DictOf<std::variant<int64_t, double, std::string>> {
            nb::dict values;
            for (const auto& [key, value] : self.annotations) values[key.c_str()] = nb::cast(value);
            return values;
          },
          "A dict of int, float or str.");
}

}  // namespace

void require_own(const Handle& handle, const ScheduleRef& schedule) {
  if (handle.family == schedule.family) return;
  throw UserError(
      "a handle of another schedule: get the block or loop from this schedule, or from the one it was copied "
      "from");
}

void bind_questions(nb::module_& module, nb::class_<ScheduleRef>& schedule) {
  nb::class_<BlockInfo> info(module, "BlockInfo", "Properties of a block at the time of Schedule.info().");
  info.def_prop_ro("name", field(&BlockInfo::name), "Unique in its program.")
      .def_prop_ro(
          "spatial", [](const BlockInfo& self) { return self.count.spatial; },
          "The product of the extents of its spatial iterators.")
      .def_prop_ro(
          "reduction", [](const BlockInfo& self) { return self.count.reduction; },
          "The product of the extents of its reduction iterators; 1 when it has none.")
      .def_prop_ro("is_untouched", field(&BlockInfo::untouched),
                   "Is each iterator still bound to a loop of its own?")
      .def_prop_ro("needs_tiling", field(&BlockInfo::tiled),
                   "Is it an untouched reduction that reuses what it reads, as a product?")
      .def_prop_ro("is_elementwise", field(&BlockInfo::elementwise),
                   "Are all iterators spatial, and the indices of its one store?")
      .def_prop_ro("writes_output", field(&BlockInfo::output), "Does it write an output of the program?")
      .def("__repr__", [](const BlockInfo& self) {
        return fmt::format("BlockInfo {}: {} spatial, {} reduction", self.name, self.count.spatial,
                           self.count.reduction);
      });
  bind_buffers(info);
  schedule
      .def("info", &info_of, nb::arg("block"),
           "What a block, or the one of this name, is now: a BlockInfo. Nothing is recorded.")
      .def(
          "extent",
          [](const ScheduleRef& self, const LoopHandle& loop) { return loop_of(self, loop).const_extent(); },
          nb::arg("loop"), "The iterations of a loop. Nothing is recorded.")
      .def("drives", &drives, nb::arg("loop"),
           "The kinds of iterators that a loop drives: a list of \"spatial\", \"reduction\" and \"opaque\". "
           "Nothing is recorded.");
}

}  // namespace tunesmith::python
