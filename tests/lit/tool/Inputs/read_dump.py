# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a dump's page table from its files alone, with nothing of Winnow's."""
import json
import os
import struct
import sys

folder = sys.argv[1]
with open(os.path.join(folder, "launch.json")) as file:
    dump = json.load(file)
facts = dump["facts"]
tensors = {}
for tensor in dump["tensors"]:
    with open(os.path.join(folder, tensor["file"]), "rb") as file:
        data = file.read()
    assert len(data) == tensor["bytes"], tensor["name"]
    if tensor["dtype"] == "i32":
        tensor["values"] = struct.unpack(f"<{len(data) // 4}i", data)
    tensors[tensor["role"]] = tensor
for launch in dump["launches"]:
    code = dump["code_objects"][launch["code_object"]]
    with open(os.path.join(folder, code["file"]), "rb") as file:
        assert file.read(4) == b"\x7fELF"
    last = launch["arguments"][-1]
    assert last["offset"] + last["bytes"] == launch["kernarg_bytes"]


def at(role, *index):
    tensor = tensors[role]
    return tensor["values"][sum(i * s for i, s in zip(index, tensor["strides"]))]


heads, keep, block = facts["index_heads"], facts["k"], facts["block_size"]
kv_heads, per_block = facts["kv_heads"], facts["pages_per_block"]
query_len, checked = facts["query_len"], 0
for row in range(tensors["query"]["shape"][0]):
    request, position = divmod(row, query_len)
    length = at("seq_lens", request)
    causal = max(length - query_len + position + 1, 0) if length > 0 else 0
    candidates = -(-causal // block)
    for kv_head in range(kv_heads):
        head = kv_head // (kv_heads // heads)
        kept = [at("selection", row, head, s) for s in range(min(keep, candidates))]
        last = candidates - 1
        kept = [b for b in kept if b != last] + [b for b in kept if b == last]
        wanted = [
            at("attn_table", request, b) * per_block * kv_heads + kv_head + j * kv_heads
            for b in kept
            for j in range(per_block)
        ]
        wanted += [facts["page_pad"]] * (keep * per_block - len(wanted))
        out = row * kv_heads + kv_head
        found = [at("pages", out, entry) for entry in range(keep * per_block)]
        assert found == wanted, (row, kv_head, found, wanted)
        context = len(kept) * block
        if kept and kept[-1] == last:
            context -= candidates * block - causal
        assert at("ctx", out) == context, (row, kv_head)
        checked += 1
assert checked == 9 * kv_heads
