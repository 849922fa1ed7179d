// Replaces handovers by the statements that they stand for.
#pragma once

#include <tunesmith/ir/program.h>
#include <tunesmith/ir/visit.h>

namespace tunesmith::test {

/// Each Handover becomes its producer, a barrier, its consumer, and a barrier.
inline void spell_out_handovers(Program& program) {
  for (Handover* handover : collect<Handover>(program.root())) {
    auto order = std::make_unique<Seq>();
    for (const Stmt* side : {handover->produce(), handover->consume()}) {
      order->append(side->clone());
      order->append(std::make_unique<Barrier>(handover->level()));
    }
    replace(*handover, std::move(order));
  }
}

}  // namespace tunesmith::test
