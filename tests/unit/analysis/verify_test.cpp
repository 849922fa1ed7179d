#include <functional>

#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

/// The first line of verify's message for a chain after `damage`.
std::string first_line(const std::function<void(Program&)>& damage) {
  Program program = test::make_chain(4, 3);
  damage(program);
  const std::string text = verify(program);
  return text.substr(0, text.find('\n'));
}

Store& store_of(Program& program, const char* block) {
  return *program.find_block(block)->body()->as<Store>();
}

TEST(Verify, SoundProgramsPass) {
  EXPECT_EQ(verify(test::make_chain(4, 3)), "");
  EXPECT_EQ(verify(test::make_gmm(4, 3, 5)), "");
  EXPECT_EQ(verify(test::make_conv(6, 2, 3, 2, 1, 1)), "");
}

TEST(Verify, NamesAndIds) {
  EXPECT_EQ(first_line([](Program& p) { p.intermediates.push_back(make_buffer("A", kF32, {1})); }),
            "two buffers have the name 'A'");
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->name = "B"; }), "two blocks have the same name");
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->id = p.find_block("B")->id; }),
            "two statements have the same id");
}

TEST(Verify, Variables) {
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->bindings[0] = Var("x"); }),
            "the variable 'x' is not defined here");
  EXPECT_EQ(
      first_line([](Program& p) { store_of(p, "C").indices[0] = loops_above(*p.find_block("C"))[0]->var; }),
      "the variable 'i' is not defined here");
  EXPECT_EQ(first_line([](Program& p) {
              auto loops = loops_above(*p.find_block("C"));
              loops[1]->var = loops[0]->var;
              p.find_block("C")->bindings[1] = loops[0]->var;
            }),
            "the variable 'i' is defined twice");
}

TEST(Verify, Ranges) {
  const auto loop = [](Program& p) { return loops_above(*p.find_block("C"))[0]; };
  EXPECT_EQ(first_line([&](Program& p) { loop(p)->min = 1; }), "a loop's range is not constant from 0");
  EXPECT_EQ(first_line([&](Program& p) { loop(p)->extent = 5; }),
            "the binding of 'vi' leaves [0, 4): i = 4 gives 4");
  EXPECT_EQ(first_line([&](Program& p) {
              loop(p)->extent = 5;
              p.find_block("C")->predicate = lt(loop(p)->var, 4);
            }),
            "");
  EXPECT_EQ(first_line([](Program& p) {
              Block* block = p.find_block("C");
              store_of(p, "C").indices[0] = block->iters[0].var + 1;
            }),
            "index 0 of 'C' leaves [0, 4): vi = 3 gives 4");
  EXPECT_EQ(first_line([](Program& p) {
              Store& store = store_of(p, "C");
              store.value = load(p.inputs[0], {store.indices[0], store.indices[1] - 1});
            }),
            "index 1 of 'A' leaves [0, 3): vj = 0 gives -1");
  // A select prevents the read.
  EXPECT_EQ(first_line([](Program& p) {
              Store& store = store_of(p, "C");
              const Expr& j = store.indices[1];
              store.value = select(le(1, j), load(p.inputs[0], {store.indices[0], j - 1}), constant(0, kF32));
            }),
            "");
}

TEST(Verify, Accesses) {
  EXPECT_EQ(first_line([](Program& p) { p.intermediates.clear(); }), "the buffer 'B' is not declared");
  EXPECT_EQ(first_line([](Program& p) { store_of(p, "C").buffer = p.inputs[0]; }),
            "the input 'A' is written");
  EXPECT_EQ(first_line([](Program& p) { store_of(p, "C").indices.pop_back(); }),
            "'C' has 2 dimensions, not 1");
  EXPECT_EQ(first_line([](Program& p) { store_of(p, "C").value = constant(1, kF64); }),
            "f64 is stored to 'C' of f32");
  EXPECT_EQ(first_line([](Program& p) {
              StmtPtr first = p.root().remove(0);
              p.root().append(std::move(first));
            }),
            "'B' is read before it is written");
}

TEST(Verify, Statements) {
  EXPECT_EQ(
      first_line([](Program& p) {
        p.root().append(std::make_unique<Store>(p.outputs[0], std::vector<Expr>{0, 0}, constant(1, kF32)));
      }),
      "a store stands outside all blocks");
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->bindings.pop_back(); }),
            "the block 'C' has not as many bindings as iteration variables");
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->parent = &p.root(); }),
            "a statement's parent link is wrong");
  EXPECT_EQ(first_line([](Program& p) { p.find_block("C")->set_init(p.find_block("C")->body()->clone()); }),
            "a block without reduction has an init");
  EXPECT_EQ(first_line([](Program& p) { loops_above(*p.find_block("C"))[0]->thread = "block.x"; }),
            "a loop has a thread axis and is not bound, or the other way round");
}

TEST(Verify, ConcurrentLoops) {
  Program program = test::make_gmm(4, 3, 5);
  loops_above(*program.find_block("C"))[2]->loop_kind = LoopKind::Parallel;
  EXPECT_EQ(verify(program).substr(0, 84),
            "the loop 'k' may not be parallel: the loop carries a reduction ('vk' of C)\nprogram g");
}

}  // namespace
}  // namespace tunesmith
