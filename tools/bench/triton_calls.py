# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What triton_indexer.py calls kernels with, and what they have to answer.

Keys, page tables and queries are made as winnow-gpu-bench makes its own; its
reference is restated here in float64, since its C++ is not at hand where
PyTorch is.
"""
import importlib.util
import sys
import types

BLOCK, DIM, PAGES_A_BLOCK = 128, 128, 8
# Scores may be off by so much of the sum of the products' magnitudes: Hopper's
# fp8 matrix instructions keep about 14 bits of a sum (DeepSeek-V3 Technical
# Report, 3.3.2). A wrong key or page misses by a hundred times that.
TOLERANCE = 2.0**-10
NO_PAGE = 0x7F7F7F7F  # leads far outside of every cache


def spread(samples):
    """The median, the 10th and the 90th percentile."""
    ordered = sorted(samples)
    return [ordered[int(part * (len(ordered) - 1) + 0.5)] for part in (0.5, 0.1, 0.9)]


def stand_in_platform(starts_early):
    """`starts_early`: whether kernels use programmatic dependent launches."""
    return types.SimpleNamespace(is_cuda=lambda: True, is_rocm=lambda: False, is_arch_support_pdl=starts_early)


def stand_in_for_vllm(torch, triton):
    """What the files of vLLM import from it. vLLM itself is not imported even
    where it is installed: the version of the files would not be its own."""
    platform = stand_in_platform(lambda: torch.cuda.get_device_capability() >= (9, 0))
    parts = {
        "vllm.platforms": {"current_platform": platform},
        "vllm.triton_utils": {"tl": triton.language, "triton": triton},
        "vllm.utils.math_utils": {"round_up": lambda number, of: (number + of - 1) // of * of, "cdiv": triton.cdiv},
        "vllm.models.minimax_m3.common.ops.sparse_attn": {"SPARSE_BLOCK_SIZE": BLOCK},
    }
    for name, values in parts.items():
        words = name.split(".")
        for count in range(1, len(words) + 1):
            package = ".".join(words[:count])
            if package not in sys.modules:
                sys.modules[package] = types.ModuleType(package)
                sys.modules[package].__path__ = []
        vars(sys.modules[name]).update(values)


def load(path, name, wanted):
    """The module in that file, which has the wanted names."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"error: {path}: no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # of code that is not ours
        raise SystemExit(f"error: {path}: {type(error).__name__}: {error}") from None
    missing = [each for each in wanted if not hasattr(module, each)]
    if missing:
        raise SystemExit(f"error: {path}: no {', '.join(missing)}; of another commit of vLLM than the README names?")
    return module


class Pool:
    """The key cache: random numbers of either sign, of magnitude 1/8 to 1/2,
    whose pages are dealt in a random order."""

    # Sign, the exponent's last bit and the mantissa are random.
    MASKS = {"bf16": (0x80FF80FF80FF80FF, 0x3E003E003E003E00), "e4m3": (0x8F8F8F8F8F8F8F8F, 0x2020202020202020)}
    AT_ONCE = 1 << 26

    def __init__(self, torch, mib):
        self.torch = torch
        self.random = torch.Generator(device="cuda").manual_seed(7)
        self.raw = torch.empty(mib << 17, dtype=torch.int64, device="cuda")
        self.types = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}
        self.dealt = 0
        self.order = None

    def randomize(self, words, dtype):
        keep, base = self.MASKS[dtype]
        for part in words.split(self.AT_ONCE):
            part.view(self.torch.int32).random_(-(2**31), 2**31, generator=self.random)
            part.bitwise_and_(keep - 2**64).bitwise_or_(base)

    def fill(self, dtype):
        self.randomize(self.raw, dtype)
        pages = self.keys(dtype).shape[0]
        self.order = self.torch.randperm(pages, device="cuda", generator=self.random).to(self.torch.int32)
        self.dealt = 0

    def keys(self, dtype):
        return self.raw.view(self.types[dtype]).view(-1, BLOCK, DIM)

    def numbers(self, dtype, *shape):
        """Others than the keys, of the same kind."""
        of = self.types[dtype]
        count = self.torch.Size(shape).numel() * of.itemsize // 8
        words = self.torch.empty(count, dtype=self.torch.int64, device="cuda")
        self.randomize(words, dtype)
        return words.view(of).view(*shape)

    def deal(self, count):
        at = (self.dealt + self.torch.arange(count, device="cuda")) % len(self.order)
        self.dealt = (self.dealt + count) % len(self.order)
        return self.order[at]


class Calls:
    """Inputs of several calls over one cache, as many as touch `cold` bytes."""

    def __init__(self, torch, pool, cold, most_tokens, dtype, requests, tokens, new_tokens, sets=None):
        self.torch, self.dtype, self.requests, self.tokens, self.new_tokens = torch, dtype, requests, tokens, new_tokens
        self.keys = pool.keys(dtype)
        self.blocks = (tokens + BLOCK - 1) // BLOCK
        read = requests * tokens * DIM * self.keys.itemsize
        self.sets = sets or min(max((cold + read - 1) // read, 4), 1024)
        self.rows = requests * max(new_tokens, 1)
        self.query = pool.numbers(dtype, self.sets, self.rows, 1, DIM)
        whole = (self.sets, requests, most_tokens // BLOCK)
        self.tables = torch.full(whole, NO_PAGE, dtype=torch.int32, device="cuda")
        self.tables[:, :, : self.blocks] = pool.deal(self.sets * requests * self.blocks).view(self.sets, requests, -1)
        self.attention = torch.full(whole, NO_PAGE, dtype=torch.int32, device="cuda")
        self.attention[:, :, : self.blocks] = torch.randint(
            len(self.keys), (self.sets, requests, self.blocks), dtype=torch.int32, device="cuda", generator=pool.random
        )
        # Lengths of a call start where a kernel for aligned pointers runs.
        self.lengths = torch.full((self.sets, (requests + 63) // 64 * 64), tokens, dtype=torch.int32, device="cuda")
        self.offsets = torch.arange(requests + 1, dtype=torch.int32, device="cuda") * new_tokens
        self.before = torch.full((requests,), tokens - new_tokens, dtype=torch.int32, device="cuda")
        torch.cuda.synchronize()

    def lens(self, at):
        return self.lengths[at, : self.requests]

    def some_rows(self):
        return sorted({0, self.rows // 2, self.rows - 1} if self.new_tokens else {0, self.rows - 1})

    def exact(self, at, row):
        """Scores of a row in float64, and what each may be off by."""
        torch = self.torch
        of_request = self.rows // self.requests
        length = self.tokens - of_request + row % of_request + 1
        blocks = (length + BLOCK - 1) // BLOCK
        pages = self.tables[at, row // of_request, :blocks].long()
        raw = self.keys.view(torch.uint8)[pages]  # not every type can be gathered
        keys = raw.view(self.keys.dtype).to(torch.float32).double().view(blocks * BLOCK, DIM)
        query = self.query[at, row, 0].to(torch.float32).double()
        dots = keys @ query
        dots[length:] = float("-inf")
        best, where = dots.view(blocks, BLOCK).max(1)
        weights = (keys.abs() @ query.abs()).view(blocks, BLOCK).gather(1, where[:, None])[:, 0]
        return best, weights


def check_scores(calls, kept, forced):
    """What is wrong with the scores of these calls, and the largest error."""
    worst = 0.0
    for at, scores in kept.items():
        for row in calls.some_rows():
            best, weights = calls.exact(at, row)
            got = scores[0, row, : len(best)].double()
            if forced:
                if got[-1].item() != float(calls.torch.tensor(1e29, dtype=calls.torch.float32)):
                    return f"call {at}, row {row}: the last block has {got[-1].item()}, wanted 1e29", worst
                got, best, weights = got[:-1], best[:-1], weights[:-1]
            errors = (got - best).abs() / weights
            error = errors.max().item()
            if not error <= TOLERANCE:  # NaN is not
                block = int((~(errors <= TOLERANCE)).nonzero()[0])
                return f"call {at}, row {row}, block {block}: {got[block].item()}, wanted {best[block].item()}", worst
            worst = max(worst, error)
    return None, worst


def chosen_well(ids, scores, slack):
    """What is wrong with a selection; a block that is `slack` below the least
    one that has to be in may be in its place."""
    count = min(len(ids), len(scores))
    here = ids[:count]
    if len(set(here)) != count or min(here) < 0 or max(here) >= len(scores):
        return f"ids {ids}, wanted {count} different ones under {len(scores)}"
    if any(each != -1 for each in ids[count:]):
        return f"ids {ids}, wanted -1 after {count}"
    least = sorted(scores, reverse=True)[count - 1]
    for before, each in zip([None] + here, here):
        if scores[each] + slack < least:
            return f"block {each} with {scores[each]}, wanted {least} or more"
        if before is not None and scores[before] + slack < scores[each]:
            return f"block {each} behind {before}, which has less"
    return None


def table_of(ids, pages, length):
    """The attention's pages and how many tokens they hold, of one row."""
    last = (length - 1) // BLOCK
    valid = [each for each in ids if 0 <= each <= last]
    full = [each for each in valid if each < last]
    ordered = full + ([last] if last in valid else [])
    table = [pages[each] * PAGES_A_BLOCK + part for each in ordered for part in range(PAGES_A_BLOCK)]
    tokens = len(full) * BLOCK + length - last * BLOCK if last in valid else min(len(valid) * BLOCK, length)
    return table + [0] * (len(ids) * PAGES_A_BLOCK - len(table)), tokens


def check_row(calls, at, row, result, scores, slack):
    ids = result[0][0, row].tolist()
    problem = chosen_well(ids, scores, slack)
    if problem:
        return f"call {at}, row {row}: {problem}"
    wanted = table_of(ids, calls.attention[at, row].tolist(), calls.tokens)
    if (result[1][row].tolist(), result[2][row].item()) != wanted:
        return f"call {at}, row {row}: another page table or length than its selection has"
    return None


def check_decode(calls, kept):
    """What is wrong with selections and page tables."""
    for at, result in kept.items():
        for row in calls.some_rows():
            best, weights = calls.exact(at, row)
            best[-1] = 1e29
            problem = check_row(calls, at, row, result, best.tolist(), 2 * TOLERANCE * weights.max().item())
            if problem:
                return problem
    return None


def check_top_k(calls, kept, scores):
    """The same for scores that were written there."""
    for at, result in kept.items():
        for row in calls.some_rows():
            problem = check_row(calls, at, row, result, scores[at][0, row, : calls.blocks].tolist(), 0.0)
            if problem:
                return problem
    return None
