#include "tunesmith/tuning/with_names_of.h"

namespace tunesmith {
namespace {

/// The name in `to` that corresponds to `name` in `from`; `name` itself if there is none.
std::string counterpart(const Program& to, const Program& from, const std::string& name) {
  const std::vector<Block*> blocks = from.blocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i]->name == name) return to.blocks().at(i)->name;
  }
  return name;
}

}  // namespace

tl::expected<Trace, ScheduleError> with_names_of(const Program& to, const Program& from, const Trace& trace,
                                                 const std::shared_ptr<const TensorIntrinsics>& intrinsics) {
  const InstructionKind* get_block = InstructionRegistry::global().find("get_block");
  Schedule original(from, RandomStream(0), intrinsics);
  Schedule renamed(to, RandomStream(0), intrinsics);
  try {
    for (size_t i = 0; i < trace.size(); ++i) {
      const Instruction& instruction = trace[i];
      std::vector<Arg> args = instruction.args;
      if (instruction.kind == get_block)
        args.front() =
            counterpart(renamed.program(), original.program(), std::get<std::string>(args.front()));
      original.execute(*instruction.kind, instruction.args, instruction.decision);
      renamed.execute(*instruction.kind, std::move(args), instruction.decision);
    }
  } catch (const ScheduleError& refusal) {
    return tl::make_unexpected(refusal);
  }
  return renamed.trace();
}

}  // namespace tunesmith
