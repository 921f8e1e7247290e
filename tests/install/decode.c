/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One decode of MiniMax-M3's indexer on a device, through winnow.h alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winnow.h>

static void check(winnow_status status, const char *what) {
  if (status == WINNOW_OK)
    return;
  fprintf(stderr, "%s: %s: %s\n", what, winnow_status_name(status), winnow_last_error());
  exit(1);
}

static winnow_device *device;
static void *upload(const void *data, size_t bytes) {
  void *memory;
  check(winnow_memory_allocate(device, bytes, &memory), "allocate");
  check(winnow_memory_copy(device, memory, data, bytes, WINNOW_TO_DEVICE, NULL), "copy");
  return memory;
}

/* One request of four pages; block 2 lies in the last page. */
static uint8_t query[128], keys[4 * 128 * 128];
static int32_t table[8192] = {1, 2, 3, 0}, length = 4 * 128, kept[16], out[128], context;

int main(int argc, char **argv) {
  winnow_runtime *runtime;
  winnow_bundle *bundle;
  const winnow_plan *plan;
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  char why[2048];

  check(winnow_runtime_create(NULL, &runtime), "runtime");
  check(winnow_device_open(runtime, argc > 2 ? argv[2] : "auto", &device), "device");
  check(winnow_bundle_open_file(argc > 1 ? argv[1] : "decode.winnow", &bundle), "bundle");
  wanted.max_requests = 1; /* sizes the workspace */
  check(winnow_plan_get(runtime, bundle, device, &wanted, &plan), "plan");
  check(winnow_plan_get_info(plan, &info), "info");
  check(winnow_plan_explain(plan, WINNOW_TEXT, why, sizeof why, NULL), "explain");
  fputs(why, stdout);

  memset(query, 0x38, sizeof query); /* ones; keys are larger on later pages */
  for (int page = 0; page < 4; ++page)
    memset(keys + page * 128 * 128, 0x20 + page, 128 * 128);
  const int64_t q[] = {1, 1, 128}, k[] = {4, 128, 128}, t[] = {1, 8192}, s[] = {1, 1, 16}, p[] = {1, 128};
  const winnow_tensor tensors[] = {
      {"query", upload(query, sizeof query), WINNOW_F8E4M3FN, 3, q, NULL},
      {"keys", upload(keys, sizeof keys), WINNOW_F8E4M3FN, 3, k, NULL},
      {"index_table", upload(table, sizeof table), WINNOW_I32, 2, t, NULL},
      {"attn_table", upload(table, sizeof table), WINNOW_I32, 2, t, NULL},
      {"seq_lens", upload(&length, sizeof length), WINNOW_I32, 1, t, NULL},
      {"selection", upload(kept, sizeof kept), WINNOW_I32, 3, s, NULL},
      {"pages", upload(out, sizeof out), WINNOW_I32, 2, p, NULL},
      {"ctx", upload(&context, sizeof context), WINNOW_I32, 1, t, NULL}};
  launch.tensors = tensors;
  launch.tensor_count = sizeof tensors / sizeof tensors[0];
  launch.workspace_bytes = info.workspace_bytes;
  check(winnow_memory_allocate(device, info.workspace_bytes, &launch.workspace), "workspace");
  check(winnow_launch(plan, &launch), "launch");
  check(winnow_memory_copy(device, kept, tensors[5].data, sizeof kept, WINNOW_FROM_DEVICE, NULL), "copy");

  /* The last block is always kept and first; then by score; -1 past them. */
  const int32_t expected[] = {3, 2, 1, 0, -1};
  int wrong = memcmp(kept, expected, sizeof expected) != 0;
  printf("kept blocks %d %d %d %d, %s\n", kept[0], kept[1], kept[2], kept[3], wrong ? "wanted 3 2 1 0" : "as expected");
  winnow_runtime_release(runtime);
  winnow_bundle_release(bundle);
  winnow_device_release(device);
  return wrong;
}
