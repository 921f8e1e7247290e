#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times vLLM's Triton indexer by winnow-gpu-bench's protocol, on the same GPU.

    triton_indexer.py --ops index_topk.py --table sparse_pa.py --json triton.json

The two files are the reader's, of a checkout of vLLM; what they import of it
is stood in for here. Needs PyTorch with Triton and an NVIDIA GPU. Groups and
names are those of winnow-gpu-bench, so that `tables.py --theirs` and
`chart.py --theirs` find the lines that they belong to.
"""
import argparse
import collections
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
import traceback

from files import write_whole
from triton_calls import BLOCK, Calls, Pool, check_decode, check_scores, check_top_k
from triton_calls import load, spread, stand_in_for_vllm, stand_in_platform

OPS = ["minimax_m3_index_decode", "minimax_m3_index_score"]
SCORE, PARTIAL, MERGE = "_decode_index_score_kernel", "_topk_index_partial_kernel", "_topk_index_merge_kernel"
TABLE = ["minimax_m3_build_sparse_block_table"]
MOST_TOKENS, KEEP = 131072, 16
BATCHES, CONTEXTS = (1, 4, 32, 128), (4096, 32768, 131072)
# New tokens, tokens in all.
PREFILLS = ((4096, 32768), (16384, 32768), (4096, 36864), (16384, 49152))
WARM_UPS, HOST_CALLS, HOST_TOGETHER = 3, 1024, 32
POISON = 0x7F7F7F7F


def clock_state():
    """What the driver says of clocks, temperature and power; read, never set."""
    of_clocks = "clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,power.draw,clocks_event_reasons.active"
    command = ["nvidia-smi", "--query-gpu=name,driver_version," + of_clocks, "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return said.stdout.strip() or "unknown"
    except (OSError, subprocess.SubprocessError):
        return "unknown"


class Silent:
    """Stands where a kernel of theirs is called, launches nothing, and shows
    the scores that it was handed."""

    def __init__(self, torch, show=lambda scores: None):
        self.torch, self.show = torch, show

    def __getitem__(self, grid):
        return self.call

    def call(self, *arguments, **named):
        for argument in arguments:
            if isinstance(argument, self.torch.Tensor) and argument.dtype == self.torch.float32 and argument.dim() == 3:
                return self.show(argument)


@contextlib.contextmanager
def replaced(module, kernels):
    before = {name: getattr(module, name) for name in kernels}
    try:
        vars(module).update(kernels)
        yield
    finally:
        vars(module).update(before)


class Bench:
    def __init__(self, torch, ops, table, options):
        self.torch, self.ops, self.table, self.options = torch, ops, table, options
        self.pool = Pool(torch, options.pool_mib)
        self.stream = torch.cuda.Stream()
        self.figures, self.failures, self.seconds, self.worst = [], [], collections.OrderedDict(), {}
        self.start = time.monotonic()

    @contextlib.contextmanager
    def stage(self, name):
        start = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - start, 1)
        print(f"{name}: {self.seconds[name]} s", flush=True)

    def attempt(self, what, measure):
        """A shape that fails is told and costs the others nothing."""
        if self.options.seconds and time.monotonic() - self.start > self.options.seconds:
            self.failures.append(f"{what}: left out, {self.options.seconds} s are over")
            return print(self.failures[-1], flush=True)
        try:
            measure()
        except Exception as error:  # whatever a compiler or a driver says
            self.failures.append(f"{what}: {type(error).__name__}: {str(error)[:400]}")
            print("FAILED " + self.failures[-1], traceback.format_exc(limit=-4), sep="\n", flush=True)

    def add(self, group, name, times, problem=None):
        middle, low, high = times
        figure = {"group": group, "name": name, "ours": middle, "p10": low, "p90": high}
        if problem:
            figure["wrong"] = True
            self.failures.append(f"{group}, {name}: a wrong result: {problem}")
        self.figures.append(figure)
        print(f"{group} | {name}: {middle:.2f} (p10 {low:.2f}, p90 {high:.2f})", "WRONG: " + problem if problem else "")
        sys.stdout.flush()

    def calls(self, *shape):
        return Calls(self.torch, self.pool, self.options.cold_mib << 20, MOST_TOKENS, *shape)

    def note(self, dtype, worst):
        self.worst[dtype] = max(worst, self.worst.get(dtype, 0.0))

    def timed(self, count, call, prepare):
        """The time of one of `count` calls in a graph. `prepare` is given what
        the first and the last returned, before any of it was computed."""
        torch = self.torch
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.stream):
            call(0)  # nothing may be compiled or loaded while a graph is made
            torch.cuda.synchronize()
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                kept = {}
                for at in range(count):
                    result = call(at)
                    if at in (0, count - 1):
                        kept[at] = result
                    del result
            except BaseException:
                with contextlib.suppress(Exception):
                    graph.capture_end()
                raise
            graph.capture_end()
            prepare(kept)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            samples = []
            for replay in range(WARM_UPS + self.options.replays):
                start.record(self.stream)
                graph.replay()
                end.record(self.stream)
                end.synchronize()
                if replay >= WARM_UPS:
                    samples.append(1e3 * start.elapsed_time(end) / count)
        return graph, kept, spread(samples)

    def select(self, calls, at):
        """Score and top-k: no first block is forced, the last one is; one head,
        one row a request."""
        return self.ops.minimax_m3_index_decode(
            calls.query[at], calls.keys, calls.tables[at], calls.lens(at), MOST_TOKENS, KEEP, 0, 1, 1, 1, 1
        )

    def decode(self, calls, at):
        kept = self.select(calls, at)
        return (kept, *self.table.minimax_m3_build_sparse_block_table(kept, calls.attention[at], calls.lens(at)))

    @contextlib.contextmanager
    def scores_alone(self, early):
        """Decode without its top-k; `early`: launched as decode is."""
        seen = []
        instead = {PARTIAL: Silent(self.torch, seen.append), MERGE: Silent(self.torch)}
        if not early:
            instead["current_platform"] = stand_in_platform(lambda: False)
        with replaced(self.ops, instead):
            yield seen

    def prefill(self, calls, at):
        shared = (calls.before, calls.new_tokens, calls.tokens, 1)
        return self.ops.minimax_m3_index_score(
            calls.query[at], calls.keys, calls.tables[at], calls.offsets, calls.lens(at), *shared
        )

    def compile_all(self):
        """What a server has behind it when it serves: kernels are compiled and
        tuned, for the largest batch first, as its graphs are captured."""
        for dtype in ("bf16", "e4m3"):
            for requests in reversed(BATCHES):
                shape = (dtype, requests, MOST_TOKENS, 0)
                self.attempt(f"compiling decode {shape}", lambda: self.decode(self.calls(*shape, 1), 0))
            with self.scores_alone(early=False):
                self.attempt(f"compiling scores {shape}", lambda: self.select(self.calls(*shape, 1), 0))
            shape = (dtype, 1, 32768, 4096)
            self.attempt(f"compiling prefill {shape}", lambda: self.prefill(self.calls(*shape, 1), 0))
        self.torch.cuda.synchronize()

    def time_decode(self, dtype, requests, tokens):
        name = f"{tokens} tokens x {requests}"
        calls = self.calls(dtype, requests, tokens, 0)

        def poison(kept):
            for result in kept.values():
                for tensor in result:
                    tensor.fill_(POISON)

        graph, kept, times = self.timed(calls.sets, lambda at: self.decode(calls, at), poison)
        problem = check_decode(calls, kept)
        self.add(f"decode: score + top-k + table, {dtype}, graph, us", name, times, problem)
        graph.reset()
        self.time_top_k(calls, dtype, name)
        self.time_scores(calls, dtype, name)

    def time_scores(self, calls, dtype, name):
        """Scoring alone. Its launches may start before the one in front has
        ended, which helps what follows scoring and hinders scoring that follows
        scoring: timed with and without that, the better counts."""
        outcomes = []
        for early in (True, False):
            with self.scores_alone(early) as seen:

                def score(at):
                    seen.clear()
                    self.select(calls, at)
                    return seen[0]

                graph, kept, times = self.timed(
                    calls.sets, score, lambda kept: [scores.fill_(float("nan")) for scores in kept.values()]
                )
            problem, worst = check_scores(calls, kept, forced=True)
            self.note(dtype, worst)
            outcomes.append((problem is not None, times, problem))
            graph.reset()
        _, times, problem = min(outcomes, key=lambda outcome: outcome[:2])
        self.add(f"decode: scoring alone, {dtype}, graph, us", name, times, problem)

    def time_top_k(self, calls, dtype, name):
        """Scores that nothing computed: they are written before the replays."""
        seen = []

        def prepare(kept):
            for result in kept.values():
                result[0].fill_(POISON)
            for scores in seen:
                scores.normal_()
                scores[..., calls.blocks - 1] = 1e29  # the forced block

        with replaced(self.ops, {SCORE: Silent(self.torch, seen.append)}):
            graph, kept, times = self.timed(calls.sets, lambda at: self.decode(calls, at), prepare)
        # The call before the capture had scores, too.
        problem = check_top_k(calls, kept, {0: seen[1], calls.sets - 1: seen[-1]})
        self.add(f"top-k 16 and table alone, scores of {dtype} warm, us", name, times, problem)
        graph.reset()

    def time_prefill(self, dtype, new_tokens, tokens):
        calls = self.calls(dtype, 1, tokens, new_tokens)
        graph, kept, times = self.timed(
            calls.sets,
            lambda at: self.prefill(calls, at),
            lambda kept: [scores.fill_(float("nan")) for scores in kept.values()],
        )
        problem, worst = check_scores(calls, kept, forced=False)
        self.note(dtype, worst)
        name = f"{new_tokens} new tokens, {tokens} in all"
        self.add(f"prefill: scoring alone, {dtype}, graph, us", name, times, problem)
        graph.reset()

    def host_times(self, call, waits):
        samples = []
        for at in range(HOST_CALLS):
            start = time.perf_counter()
            call()
            if waits:
                self.torch.cuda.synchronize()
            samples.append(1e6 * (time.perf_counter() - start))
            if at % HOST_TOGETHER == HOST_TOGETHER - 1:
                self.torch.cuda.synchronize()
        return spread(samples)

    def time_host(self):
        group = "the host: one decode call"
        calls = self.calls("bf16", 1, 4096, 0, 1)
        with self.torch.cuda.stream(self.stream):
            self.host_times(lambda: self.decode(calls, 0), True)
            self.add(group, "eager, us", self.host_times(lambda: self.decode(calls, 0), False))
            self.add(group, "eager, call to done, us", self.host_times(lambda: self.decode(calls, 0), True))
            graph, _, _ = self.timed(1, lambda at: self.decode(calls, at), lambda kept: None)
            self.add(group, "replay of a graph of it, us", self.host_times(graph.replay, False))

    def copy_rate(self):
        """TB/s read and written, so that runs on one machine can be told."""
        half = self.pool.raw.numel() // 2
        target = self.torch.empty(half, dtype=self.pool.raw.dtype, device="cuda")
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        samples = []
        for replay in range(WARM_UPS + self.options.replays):
            start.record()
            target.copy_(self.pool.raw[:half])
            end.record()
            end.synchronize()
            if replay >= WARM_UPS:
                samples.append(start.elapsed_time(end))
        return 16e-9 * half / spread(samples)[0]

    def run(self):
        with self.stage("compiling and tuning"):
            self.compile_all()
        for dtype in ("bf16", "e4m3"):
            if dtype != "bf16":
                self.pool.fill(dtype)
            with self.stage(f"decode, {dtype}"):
                for requests in BATCHES:
                    for tokens in CONTEXTS:
                        self.attempt(
                            f"decode {dtype}, {tokens} tokens x {requests}",
                            lambda: self.time_decode(dtype, requests, tokens),
                        )
            with self.stage(f"prefill, {dtype}"):
                for new_tokens, tokens in PREFILLS:
                    self.attempt(
                        f"prefill {dtype}, {new_tokens} of {tokens}",
                        lambda: self.time_prefill(dtype, new_tokens, tokens),
                    )
            if dtype == "bf16":
                with self.stage("the host"):
                    self.attempt("the host", self.time_host)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", required=True, help="vLLM's minimax_m3/common/ops/index_topk.py")
    parser.add_argument("--table", required=True, help="vLLM's minimax_m3/amd/ops/sparse_pa.py")
    parser.add_argument("--vllm", default="", help="the commit that they are of, named in the JSON")
    parser.add_argument("--json", required=True, help="where the figures go")
    parser.add_argument("--pool-mib", type=int, default=8192, help="size of the key cache")
    parser.add_argument("--cold-mib", type=int, default=512, help="keys read before a page is read again")
    parser.add_argument("--replays", type=int, default=21, help="of each graph")
    parser.add_argument("--seconds", type=int, default=0, help="leave out what has not begun by then")
    options = parser.parse_args()
    if not (64 <= options.pool_mib <= 1 << 16 and 1 <= options.cold_mib <= 1 << 16 and 1 <= options.replays <= 10000):
        raise SystemExit("error: --pool-mib (64 to 65536), --cold-mib (1 to 65536) or --replays (1 to 10000) out of range")
    for path in (options.ops, options.table):
        if not os.path.isfile(path):
            raise SystemExit(f"error: {path}: no such file; wanted a file of vLLM, see tools/bench/README.md")
    if not os.access(os.path.dirname(os.path.abspath(options.json)), os.W_OK):
        raise SystemExit(f"error: cannot write {options.json}")
    try:
        import torch
        import triton
    except ImportError as error:
        raise SystemExit(f"error: {error}; PyTorch with Triton is needed") from None
    if not torch.cuda.is_available():
        raise SystemExit("error: PyTorch finds no GPU")
    start = time.monotonic()
    stand_in_for_vllm(torch, triton)
    ops = load(options.ops, "theirs_index_topk", OPS + [SCORE, PARTIAL, MERGE])
    table = load(options.table, "theirs_sparse_pa", TABLE)
    before = clock_state()
    bench = Bench(torch, ops, table, options)
    copied = None
    try:
        with bench.stage("keys of bf16"):
            bench.pool.fill("bf16")
        copied = bench.copy_rate()
        bench.run()
    except Exception as error:  # the device may be lost; what is measured is kept
        bench.failures.append(f"{type(error).__name__}: {str(error)[:400]}")
    major, minor = torch.cuda.get_device_capability()
    tuned = {
        name: str(kernel.best_config)
        for name, kernel in ((name, getattr(getattr(ops, name), "fn", None)) for name in (PARTIAL, MERGE))
        if hasattr(kernel, "best_config")
    }
    about = {
        "bench": "triton",
        "device": torch.cuda.get_device_name(),
        "arch": f"sm_{major}{minor}",
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "vllm": options.vllm,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "sha256": {os.path.basename(path): digest(path) for path in (options.ops, options.table)},
        "tuned": tuned,
        "copy_tbs": copied,
        "worst_score_error": bench.worst,
        "clocks_before": before,
        "clocks_after": clock_state(),
        "replays": options.replays,
        "pool_mib": options.pool_mib,
        "cold_mib": options.cold_mib,
        "seconds": bench.seconds,
        "failures": bench.failures,
    }
    write_whole(options.json, json.dumps({"about": about, "figures": bench.figures}, indent=2) + "\n")
    print(json.dumps({name: value for name, value in about.items() if name != "failures"}, indent=1))
    print(f"{len(bench.figures)} figures in {time.monotonic() - start:.0f} s; blocks of {BLOCK} tokens")
    for failure in bench.failures:
        print("error: " + failure, file=sys.stderr)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
