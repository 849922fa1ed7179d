// A finishing module that is wrong on purpose: it breaks the program as the annotation "mistake" says,
// without the schedule's checks.
#include <tunesmith/analysis/blocks.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

enum Kind : int64_t {
  kNone,
  kWrongResult,
  kWritesFarAway,
  kWritesJustBeyond,
  kReadsBeyond,
  kLeavesOneOut,
  kEndless
};

/// Adds `distance` to the last index.
std::vector<Expr> shifted(std::vector<Expr> indices, int64_t distance) {
  indices.back() = indices.back() + distance;
  return indices;
}

class MakeMistake final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleResult apply(Schedule schedule, const std::string&, ModuleContext&) override {
    const auto annotation = schedule.program().annotations.find("mistake");
    if (annotation == schedule.program().annotations.end()) return ModuleResult::not_applicable("no mistake");
    Block& block = *schedule.program().blocks().back();
    Store& store = *block.body()->as<Store>();
    const LoopRV loop = schedule.get_loops(schedule.handle(block)).front();
    switch (std::get<int64_t>(annotation->second)) {
      case kWrongResult:
        store.value = store.value + float_imm(0.5, store.value.dtype());
        break;
      case kWritesFarAway:
        store.indices = shifted(store.indices, int64_t{1} << 40);
        break;
      case kWritesJustBeyond:
        store.indices = shifted(store.indices, 1);
        break;
      case kReadsBeyond: {
        Substitution next;
        for (const IterVar& iter : block.iters) next.set(iter.var, Expr(iter.var) + 1);
        store.value = substitute(store.value, next);
        break;
      }
      case kLeavesOneOut:
        schedule.loop(loop).extent = Expr(schedule.loop(loop).const_extent() - 1);
        break;
      case kEndless:
        schedule.loop(loop).extent = Expr(int64_t{1} << 60);
        block.bindings.front() = min(block.bindings.front(), 0);
        break;
      default:
        break;
    }
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(MakeMistake, PluginKind::Module, "make_mistake", "1.0.0", "break the program on purpose");
