"""Plugins in Python, as texts: tests write them beside the spaces files that name them."""

MODULE = '''
import tunesmith as ts


class SplitOuter(ts.Module):
    """Splits the outermost loop of every elementwise block, by a factor that the search chooses."""

    def __init__(self, *, max_inner=8):
        if max_inner < 2:
            raise ValueError("max_inner: expected 2 or more")
        self.max_inner = max_inner

    def apply(self, schedule, block, context):
        info = schedule.info(block)
        if not info.is_elementwise:
            return "the block is not elementwise"
        loop = schedule.get_loops(schedule.get_block(block))[0]
        outer, inner = schedule.sample_perfect_tile(loop, 2, self.max_inner)
        schedule.split(loop, [outer, inner])
        context.claim(block, "it is split")
        return schedule


class Forks(ts.Module):
    def apply(self, schedule, block, context):
        other = schedule.copy()
        other.parallel(other.get_loops(other.get_block(block))[0])
        return [schedule, other]


class Fails(ts.Module):
    def apply(self, schedule, block, context):
        return 1 // 0


class Refused(ts.Module):
    def apply(self, schedule, block, context):
        schedule.split(schedule.get_loops(schedule.get_block(block))[-1], [2, 2])
        return schedule


class Misuses(ts.Module):
    def apply(self, schedule, block, context):
        schedule.split(schedule.get_loops(schedule.get_block(block))[0], [0, None])
        return schedule


class Lacks(ts.Module):
    def apply(self, schedule, block, context):
        schedule.split(schedule.get_block(block))
        return schedule


class Nothing(ts.Module):
    def apply(self, schedule, block, context):
        pass


class Keeps(ts.Module):
    kept = []

    def apply(self, schedule, block, context):
        if self.kept:
            self.kept[0].device
        self.kept.append(context)
        return "it only keeps the context"


class Unrolls(ts.Module):
    """Once for each candidate."""

    stage = "finishing"

    def apply(self, schedule, block, context):
        assert block == "" and context.device["cores"] >= 1 and context.original.name
        schedule.annotate(None, "unroll_max_step", 16)
        return schedule


class Root(ts.Module):
    stage = "root"
    makes = ["my_hint"]

    def apply(self, schedule, block, context):
        schedule.annotate(None, "my_hint", 1)
        return schedule


class NoApply(ts.Module):
    pass


class NoModule:
    def apply(self, schedule, block, context):
        return schedule


class Stage(ts.Module):
    stage = "finish"

    def apply(self, schedule, block, context):
        return schedule
'''

SEARCH = '''
import tunesmith as ts


class Climb(ts.Searcher):
    """Mutates the fastest; without one, draws."""

    def __init__(self, *, random=0.25):
        self.random = random
        self.told = 0

    def propose(self, context, n):
        assert len(context.sketches) > 0 and context.device["cores"] > 0
        drafts = []
        best = context.history.fastest(2)
        for _ in range(4 * n):
            stream = context.next_stream()
            trace = None
            if best and stream.uniform() >= self.random:
                trace = context.mutate(stream.choice(best), stream)
            drafts.append((trace or context.draw(stream), stream))
        made, seen = [], set()
        for candidate in context.materialise(drafts):
            if candidate is not None and not context.is_measured(candidate) and candidate not in seen:
                seen.add(candidate)
                made.append(candidate)
        scores = dict(zip(made, context.score(made)))
        return sorted(made, key=lambda candidate: -scores[candidate])[:n]

    def observe(self, context, results):
        self.told += len(results)
        for result in results:
            assert (result.seconds is None) == (result.failure is not None)


class Hands(ts.Searcher):
    """Leaves it to another one."""

    def __init__(self):
        self.other = None

    def propose(self, context, n):
        if self.other is None:
            self.other = context.create_searcher("random")
        return self.other.propose(context, n)

    def observe(self, context, results):
        if self.other is not None:
            self.other.observe(context, results)


class Greedy(ts.Searcher):
    def propose(self, context, n):
        return context.materialise([(context.draw(s), s) for s in [context.next_stream() for _ in range(n + 1)]])


class Ends(ts.Searcher):
    def propose(self, context, n):
        return []


class Least(ts.CostModel):
    """The fewer bytes a program touches, the better."""

    def __init__(self, *, columns=["loads"]):
        self.columns = columns

    def use_columns(self, added):
        self.width = len(ts.feature_columns()) + len(added)

    def begin(self, workload, device):
        self.device, self.workload = device, workload
        self.learned = 0

    def update(self, results):
        self.learned += len(results)

    def predict(self, candidates):
        scores = []
        for candidate in candidates:
            rows = candidate.features(self.device)
            assert rows.shape[1] == self.width and not rows.flags.writeable
            scores.append(-float(rows.sum()))
        return scores

    def save(self):
        return str(self.learned).encode()

    def load(self, saved):
        self.learned = int(saved)

    def importance(self):
        return {"all": 1.0}


class Odd(ts.CostModel):
    def predict(self, candidates):
        return [0.0] * (len(candidates) - 1)


class InTurn(ts.TaskScheduler):
    asked = []

    def next(self, tasks):
        assert len(tasks) == 2 and tasks.round > 0 and tasks.goal in ("total", "geomean")
        self.asked.append([task.trials for task in tasks])
        return min((task.trials, i) for i, task in enumerate(tasks) if not task.done)[1]
'''
