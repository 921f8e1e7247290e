#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decode on PyTorch's tensors and PyTorch's stream, eagerly and in PyTorch's graph.

    torch_decode.py libwinnow.so BUNDLE [DEVICE]

What a serving engine in Python does: winnow.h through ctypes, nothing else of
Winnow. BUNDLE is dsl/examples/minimax_m3_decode.mlir without its contract,
built for the device (winnow build --arch sm_90). Needs PyTorch and a GPU, so
it is run by hand; the exit code is 1 where a result is wrong.
"""
import ctypes
import sys
import threading

import torch

REQUESTS, PAGES, WIDTH, KEEP, BLOCK, DIM = 7, 600, 8192, 16, 128, 128
F8E4M3FN, I32 = 1, 6
DEVICE = "cuda:0"

c_int64_p = ctypes.POINTER(ctypes.c_int64)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_int32),
        ("shape", c_int64_p),
        ("strides", c_int64_p),
    ]


class LaunchOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("tensors", ctypes.POINTER(Tensor)),
        ("tensor_count", ctypes.c_size_t),
        ("tensor_size", ctypes.c_size_t),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_size_t),
    ]


class Winnow:
    """A runtime, a device, a bundle and its plan."""

    def __init__(self, library, bundle, device):
        self.lib = ctypes.CDLL(library)
        self.lib.winnow_last_error.restype = ctypes.c_char_p
        self.runtime, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        self.bundle, self.plan = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("runtime_create", None, ctypes.byref(self.runtime))
        self.call("device_open", self.runtime, device.encode(), ctypes.byref(self.device))
        self.call("bundle_open_file", bundle.encode(), ctypes.byref(self.bundle))
        self.call("plan_get", self.runtime, self.bundle, self.device, None, ctypes.byref(self.plan))
        text = ctypes.create_string_buffer(4096)
        self.call("plan_explain", self.plan, 0, text, 4096, None)
        print(text.value.decode(), end="")
        size = ctypes.c_uint64()
        self.call("plan_workspace_bytes", self.plan, ctypes.byref(size))
        self.workspace = torch.empty(size.value, dtype=torch.uint8, device=DEVICE)

    def call(self, name, *arguments):
        if getattr(self.lib, "winnow_" + name)(*arguments):
            sys.exit("winnow_%s: %s" % (name, self.lib.winnow_last_error().decode()))

    def launch(self, tensors):
        """On PyTorch's current stream; `tensors` by the names of the manifest."""
        described = (Tensor * len(tensors))()
        kept = []
        for to, (name, tensor) in zip(described, tensors.items()):
            shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
            strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
            kept += [shape, strides]
            to.name, to.data, to.rank = name.encode(), tensor.data_ptr(), tensor.dim()
            to.dtype = I32 if tensor.dtype == torch.int32 else F8E4M3FN
            to.shape = ctypes.cast(shape, c_int64_p)
            to.strides = ctypes.cast(strides, c_int64_p)
        options = LaunchOptions(
            ctypes.sizeof(LaunchOptions),
            torch.cuda.current_stream().cuda_stream,
            described,
            len(tensors),
            ctypes.sizeof(Tensor),
            self.workspace.data_ptr(),
            self.workspace.numel(),
        )
        self.call("launch", self.plan, ctypes.byref(options))


def make(seed):
    generator = torch.Generator(DEVICE).manual_seed(seed)

    def random(*shape):
        values = torch.randn(*shape, generator=generator, device=DEVICE)
        return values.to(torch.float8_e4m3fn)

    table = torch.full((REQUESTS, WIDTH), -1, dtype=torch.int32, device=DEVICE)
    lens = torch.randint(1, 70 * BLOCK, (REQUESTS,), generator=generator, device=DEVICE, dtype=torch.int32)
    pages = torch.randperm(PAGES, generator=generator, device=DEVICE).to(torch.int32)
    for r in range(REQUESTS):
        table[r, :80] = pages[r * 80 : r * 80 + 80]
    return {
        "query": random(REQUESTS, 1, DIM),
        "keys": random(PAGES, BLOCK, DIM),
        "index_table": table,
        "attn_table": table.clone(),
        "seq_lens": lens,
        "selection": torch.empty(1, REQUESTS, KEEP, dtype=torch.int32, device=DEVICE),
        "pages": torch.empty(REQUESTS, 128, dtype=torch.int32, device=DEVICE),
        "ctx": torch.empty(REQUESTS, dtype=torch.int32, device=DEVICE),
    }


def wrong(tensors):
    """What is wrong with the selection, by PyTorch in float64."""
    keys, query = tensors["keys"].double(), tensors["query"].double()
    for r in range(REQUESTS):
        tokens = int(tensors["seq_lens"][r])
        blocks = (tokens + BLOCK - 1) // BLOCK
        dots = (keys[tensors["index_table"][r, :blocks].long()] @ query[r, 0]).flatten()
        dots[tokens:] = float("-inf")
        scores = dots.view(blocks, BLOCK).amax(1)
        scores[blocks - 1] = 1e29  # the last block is always kept
        order = sorted(range(blocks), key=lambda b: (-float(scores[b]), -b))[:KEEP]
        wanted = order + [-1] * (KEEP - len(order))
        got = tensors["selection"][0, r].tolist()
        # Blocks whose scores are as good as equal may stand either way.
        for place, (a, b) in enumerate(zip(got, wanted)):
            if a != b and (min(a, b) < 0 or abs(float(scores[a] - scores[b])) > 1e-3):
                return "request %d of %d tokens, place %d: block %d, wanted %d" % (r, tokens, place, a, b)
    return ""


def check(what, tensors):
    torch.cuda.synchronize()
    problem = wrong(tensors)
    print("%s: %s" % (what, problem or "right"))
    return not problem


def main():
    torch.zeros(1, device=DEVICE)  # PyTorch is first, as in an engine
    winnow = Winnow(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else DEVICE)
    good = True

    tensors = make(1)
    winnow.launch(tensors)
    good &= check("on the default stream", tensors)

    side = torch.cuda.Stream()
    tensors = make(2)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        winnow.launch(tensors)
    good &= check("on a stream of PyTorch's", tensors)

    # A graph holds the launch between operations of PyTorch's own; lengths
    # change between its replays.
    tensors, other = make(3), make(4)
    longer = tensors["seq_lens"].clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tensors["seq_lens"].copy_(longer)
        winnow.launch(tensors)
        kept = (tensors["selection"] >= 0).sum()
    for lens in (longer.clone(), other["seq_lens"].clone(), torch.ones_like(longer)):
        longer.copy_(lens)
        tensors["selection"].fill_(-7)
        for _ in range(3):
            graph.replay()
        good &= check("in a graph, lengths %s" % lens.tolist(), tensors)
        blocks = (lens + BLOCK - 1) // BLOCK
        good &= int(kept) == int(blocks.clamp(max=KEEP).sum())

    # A thread that has not used CUDA has no context of its own.
    tensors = make(5)
    torch.cuda.synchronize()
    thread = threading.Thread(target=winnow.launch, args=(tensors,))
    thread.start()
    thread.join()
    good &= check("from another thread", tensors)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
