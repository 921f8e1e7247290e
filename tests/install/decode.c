/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One decode of MiniMax-M3's indexer on a device, through winnow.h alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winnow.h>

enum { REQUESTS = 2, PAGES = 4, WIDTH = 8192, KEEP = 16 };

static void check(winnow_status status, const char *what) {
  if (status != WINNOW_OK) {
    fprintf(stderr, "%s: %s: %s\n", what, winnow_status_name(status), winnow_last_error());
    exit(1);
  }
}

static winnow_device *device;
static void *upload(const void *data, size_t bytes) {
  void *memory;
  check(winnow_memory_allocate(device, bytes, &memory), "allocate");
  check(winnow_memory_copy(device, memory, data, bytes, WINNOW_TO_DEVICE, NULL), "copy");
  return memory;
}

static uint8_t query[REQUESTS * 128], keys[PAGES * 128 * 128];
static int32_t table[REQUESTS * WIDTH], lens[REQUESTS], kept[REQUESTS * KEEP], out[REQUESTS * 128];

int main(int argc, char **argv) {
  winnow_runtime *runtime;
  winnow_bundle *bundle;
  const winnow_plan *plan;
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  char why[2048];
  void *workspace;
  uint64_t bytes;

  check(winnow_runtime_create(NULL, &runtime), "runtime");
  check(winnow_device_open(runtime, argc > 2 ? argv[2] : "auto", &device), "device");
  check(winnow_bundle_open_file(argc > 1 ? argv[1] : "decode.winnow", &bundle), "bundle");
  wanted.max_requests = REQUESTS; /* sizes the workspace */
  check(winnow_plan_get(runtime, bundle, device, &wanted, &plan), "plan");
  check(winnow_plan_explain(plan, WINNOW_TEXT, why, sizeof why, NULL), "explain");
  fputs(why, stdout);

  /* Queries of ones (fp8 e4m3: 0x38); a page's keys are all alike, and larger
   * on later pages, so the order of the blocks is known. */
  memset(query, 0x38, sizeof query);
  for (int page = 0; page < PAGES; ++page)
    memset(keys + page * 128 * 128, 0x20 + page, 128 * 128);
  for (int r = 0; r < REQUESTS; ++r) {
    lens[r] = PAGES * 128;
    for (int block = 0; block < PAGES; ++block)
      table[r * WIDTH + block] = (block + 1) % PAGES; /* block 2 has the largest keys */
  }
  const int64_t q[] = {REQUESTS, 1, 128}, k[] = {PAGES, 128, 128}, t[] = {REQUESTS, WIDTH};
  const int64_t s[] = {1, REQUESTS, KEEP}, p[] = {REQUESTS, 128};
  const winnow_tensor tensors[] = {
      {"query", upload(query, sizeof query), WINNOW_F8E4M3FN, 3, q, NULL},
      {"keys", upload(keys, sizeof keys), WINNOW_F8E4M3FN, 3, k, NULL},
      {"index_table", upload(table, sizeof table), WINNOW_I32, 2, t, NULL},
      {"attn_table", upload(table, sizeof table), WINNOW_I32, 2, t, NULL},
      {"seq_lens", upload(lens, sizeof lens), WINNOW_I32, 1, t, NULL},
      {"selection", upload(kept, sizeof kept), WINNOW_I32, 3, s, NULL},
      {"pages", upload(out, sizeof out), WINNOW_I32, 2, p, NULL},
      {"ctx", upload(lens, sizeof lens), WINNOW_I32, 1, t, NULL}};
  check(winnow_plan_workspace_bytes(plan, &bytes), "workspace");
  check(winnow_memory_allocate(device, bytes, &workspace), "workspace");
  launch.tensors = tensors;
  launch.tensor_count = sizeof tensors / sizeof tensors[0];
  launch.workspace = workspace;
  launch.workspace_bytes = bytes;
  check(winnow_launch(plan, &launch), "launch");
  check(winnow_memory_copy(device, kept, tensors[5].data, sizeof kept, WINNOW_FROM_DEVICE, NULL), "copy");

  /* The last block is always kept and first; then by score. */
  const int32_t expected[] = {3, 2, 1, 0, -1};
  for (int r = 0; r < REQUESTS; ++r)
    for (int i = 0; i < 5; ++i)
      if (kept[r * KEEP + i] != expected[i]) {
        fprintf(stderr, "request %d, place %d: block %" PRId32 ", wanted %" PRId32 "\n", r, i, kept[r * KEEP + i], expected[i]);
        return 1;
      }
  printf("kept blocks %d %d %d %d, as expected\n", kept[0], kept[1], kept[2], kept[3]);
  winnow_runtime_release(runtime);
  winnow_bundle_release(bundle);
  winnow_device_release(device);
  return 0;
}
