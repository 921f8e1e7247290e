/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of Winnow's runtime: bundles, devices, plans, launches.
 *
 *   runtime -> open a bundle and a device -> get a plan -> launch it on a
 * stream
 *
 * C99. No exception and no C++ type crosses it. docs/embedding.md walks through
 * a program.
 *
 * Errors. Every function that can fail returns a winnow_status. After one that
 * is not WINNOW_OK, winnow_last_error() has a text that names what was wrong,
 * what was found and what was wanted. What a function would have written
 * through its pointers is then null, 0, or untouched.
 *
 * Handles are checked: a null, released or made-up handle, or one of another
 * kind, is WINNOW_ERROR_HANDLE. Other pointers have to be what they say; null
 * is an error where nothing says that it may be.
 *
 * Threads. Every function may be called from several threads at once, on the
 * same handles too, with one rule: release a handle only when no call with it,
 * or with a plan made from it, is in progress. Streams, events and graphs are
 * the device library's own and follow its rules.
 *
 * Versions. Structures that a caller fills start with `size`, set to the
 * sizeof of the header that the caller was built with; the initialisers below
 * do that. A library that is older than the header refuses fields that it does
 * not know unless they are 0; a newer library takes absent fields as 0.
 */
#ifndef WINNOW_H
#define WINNOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WINNOW_API __attribute__((visibility("default")))
#else
#define WINNOW_API
#endif

#define WINNOW_VERSION_MAJOR 0
#define WINNOW_VERSION_MINOR 1
#define WINNOW_VERSION_PATCH 0

/* The most axes that a tensor may have. */
#define WINNOW_MAX_RANK 4

typedef struct winnow_runtime winnow_runtime;
typedef struct winnow_bundle winnow_bundle;
typedef struct winnow_device winnow_device;
typedef struct winnow_plan winnow_plan;

typedef enum winnow_status {
  WINNOW_OK = 0,
  /* The call: null, unknown, out of range, a tensor that is not what the plan
   * wants. Nothing was done. */
  WINNOW_ERROR_ARGUMENT = 1,
  /* A handle that is null, released, of another kind or made up. */
  WINNOW_ERROR_HANDLE = 2,
  /* A bundle that is unreadable, damaged or of a newer format. */
  WINNOW_ERROR_BUNDLE = 3,
  /* No entry or lowering of that name. */
  WINNOW_ERROR_NOT_FOUND = 4,
  /* No lowering takes this device and these bounds; the text has each reason.
   */
  WINNOW_ERROR_CONTRACT = 5,
  /* A kernel is not at hand and may not be compiled; the text has its key. */
  WINNOW_ERROR_MISSING_KERNEL = 6,
  /* The compiler failed; the text has its words. */
  WINNOW_ERROR_COMPILE = 7,
  /* The device or its library failed, or is not there. */
  WINNOW_ERROR_DEVICE = 8,
  /* The host's memory is exhausted. */
  WINNOW_ERROR_MEMORY = 9,
  /* A fault of this library. */
  WINNOW_ERROR_INTERNAL = 10
} winnow_status;

/* Element types, in the order of their numbers: OCP fp8 e4m3 and e5m2,
 * bfloat16, IEEE half and single precision, 32-bit integers. */
typedef enum winnow_dtype {
  WINNOW_F8E4M3FN = 1,
  WINNOW_F8E5M2 = 2,
  WINNOW_BF16 = 3,
  WINNOW_F16 = 4,
  WINNOW_F32 = 5,
  WINNOW_I32 = 6
} winnow_dtype;

/* ---- Library ------------------------------------------------------------ */

/* "0.1.0". Static. */
WINNOW_API const char *winnow_version(void);

/* "WINNOW_ERROR_ARGUMENT". Static; "WINNOW_UNKNOWN_STATUS" for other numbers.
 */
WINNOW_API const char *winnow_status_name(winnow_status status);

/* The text of this thread's last error, "" if there was none. Valid until the
 * thread's next error. Never null. */
WINNOW_API const char *winnow_last_error(void);

/* ---- Runtime ------------------------------------------------------------ */

typedef enum winnow_compile_mode {
  /* A kernel that is not at hand is compiled while winnow_plan_get waits. */
  WINNOW_COMPILE_AUTO = 0,
  /* A kernel that is not at hand is WINNOW_ERROR_MISSING_KERNEL. */
  WINNOW_COMPILE_NEVER = 1,
  /* A lowering that is at hand is served at once; better ones are compiled in a
   * thread of the runtime, and winnow_plan_get serves them from then on. With
   * nothing at hand, as AUTO. */
  WINNOW_COMPILE_BACKGROUND = 2
} winnow_compile_mode;

/* Of kernels for AMD's GPUs. Those for NVIDIA's are NVRTC's. */
typedef enum winnow_compiler {
  WINNOW_COMPILER_AUTO = 0, /* clang if it is there, else hipRTC */
  WINNOW_COMPILER_CLANG = 1,
  WINNOW_COMPILER_HIPRTC = 2
} winnow_compiler;

typedef enum winnow_log_level {
  WINNOW_LOG_INFO = 0,   /* one line for each plan that is made */
  WINNOW_LOG_WARNING = 1 /* one line for each plan that is refused; a damaged
                          * cache entry, ... */
} winnow_log_level;

/* Called from any thread with one line (no newline), never two at once for one
 * runtime. It must not call into this library. */
typedef void (*winnow_log_function)(void *user, winnow_log_level level,
                                    const char *line);

/* Strings are copied; each may be null. */
typedef struct winnow_runtime_options {
  size_t size;
  /* Of compiled kernels; made with mode 0700. Null: $XDG_CACHE_HOME/winnow, or
   * ~/.cache/winnow. */
  const char *cache_folder;
  /* A folder in the same format that is only read. Null: none. */
  const char *shipped_folder;
  winnow_compile_mode compile_mode;
  winnow_compiler compiler;
  /* A compile is stopped after this; milliseconds. 0: 60000. */
  uint32_t compile_timeout_ms;
  /* Compiles that run at once. 0: one for two hardware threads, 1 to 8. */
  uint32_t max_workers;
  /* What the cache folder may hold; bytes. 0: 512 MiB. */
  uint64_t max_cache_bytes;
  /* Null: warnings go to the standard error, the rest nowhere. */
  winnow_log_function log;
  void *log_user;
  /* The HIP library to load; null: libamdhip64.so.7, .6, .5. */
  const char *hip_library;
  /* That of the simulated device; null: libwinnow_hip_sim.so beside this one.
   */
  const char *sim_library;
  /* hipRTC; null: libhiprtc.so.7, .6, or ROCm 5's libamdhip64.so.5. */
  const char *hiprtc_library;
  /* The program that compiles; null: winnow-rtc-worker of this installation. */
  const char *worker;
  /* NVRTC; null: libnvrtc.so.13, .12, in $CUDA_PATH/lib64 and $CUDA_HOME/lib64,
   * as the system finds it, in /usr/local/cuda/lib64. */
  const char *nvrtc_library;
  /* NVIDIA's driver library; null: libcuda.so.1. */
  const char *cuda_library;
} winnow_runtime_options;

#define WINNOW_RUNTIME_OPTIONS_INIT                                            \
  {sizeof(winnow_runtime_options),                                             \
   0,                                                                          \
   0,                                                                          \
   WINNOW_COMPILE_AUTO,                                                        \
   WINNOW_COMPILER_AUTO,                                                       \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0}

/* Null options are all 0. This makes the cache folder where it is not there;
 * nothing is compiled, and no device's library is loaded. */
WINNOW_API winnow_status winnow_runtime_create(
    const winnow_runtime_options *options, winnow_runtime **runtime);

/* Releases it and every plan got from it; waits for a compile in progress. No
 * launch may be unfinished on a device. Null is fine. */
WINNOW_API winnow_status winnow_runtime_release(winnow_runtime *runtime);

/* Waits until nothing is being compiled in the background. */
WINNOW_API winnow_status winnow_runtime_wait(winnow_runtime *runtime);

/* ---- Bundles ------------------------------------------------------------ */

/* Reads a bundle, at most 1 GiB, and checks all of it. The memory is not needed
 * afterwards. */
WINNOW_API winnow_status winnow_bundle_open_file(const char *path,
                                                 winnow_bundle **bundle);
WINNOW_API winnow_status winnow_bundle_open_memory(const void *data,
                                                   size_t bytes,
                                                   winnow_bundle **bundle);

/* Plans made from it stay valid. Null is fine. */
WINNOW_API winnow_status winnow_bundle_release(winnow_bundle *bundle);

/* How many entries it has, each counted once however many lowerings it has; and
 * their names, from 0. A name lives as long as the bundle. */
WINNOW_API winnow_status winnow_bundle_entry_count(winnow_bundle *bundle,
                                                   size_t *count);
WINNOW_API winnow_status winnow_bundle_entry_name(winnow_bundle *bundle,
                                                  size_t index,
                                                  const char **name);

/* ---- Devices ------------------------------------------------------------ */

/* "hip:N": AMD GPU number N. "cuda:N": NVIDIA's, by its primary context, which
 * CUDA's runtime and PyTorch use too. "sim:gfx950": a simulated AMD GPU.
 * "host": memory of this process, where a launch runs the reference to its end;
 * it captures nothing. "auto": the first of hip:0, cuda:0, sim:gfx950 and host
 * that can be had; the log tells why not the ones before it. */
WINNOW_API winnow_status winnow_device_open(winnow_runtime *runtime,
                                            const char *name,
                                            winnow_device **device);

/* Plans made for it stay valid. Null is fine. */
WINNOW_API winnow_status winnow_device_release(winnow_device *device);

/* Set `size` before the call. The strings live as long as the device. */
typedef struct winnow_device_info {
  size_t size;
  const char *name;     /* "hip:0" */
  const char *platform; /* "rocm", "cuda"; "host" */
  const char *arch;     /* the full target: "gfx950:sramecc+:xnack-", "sm_90" */
  const char *product;  /* what the device calls itself */
  const char *library;  /* the library that drives it */
  uint64_t memory_bytes;
  int32_t compute_units;
  int32_t wave_size; /* lanes */
  uint64_t l2_bytes; /* 0 where the library does not tell it */
} winnow_device_info;

#define WINNOW_DEVICE_INFO_INIT                                                \
  {sizeof(winnow_device_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

WINNOW_API winnow_status winnow_device_get_info(winnow_device *device,
                                                winnow_device_info *info);

/* ---- Plans -------------------------------------------------------------- */

/* Fail where the preferred lowering cannot be had, instead of taking another.
 */
#define WINNOW_PLAN_PREFERRED_ONLY 1u

/* A bound of 0 is what the entry was built for; a larger one than that is
 * WINNOW_ERROR_CONTRACT. */
typedef struct winnow_plan_options {
  size_t size;
  const char *entry; /* null: the bundle's only one */
  /* A lowering to try first, as the bundle spells it: "mfma", or "mfma-generic"
   * where one scores and the other selects; null: the bundle's own order. */
  const char *prefer;
  uint32_t flags;        /* WINNOW_PLAN_... */
  int64_t max_seq_len;   /* tokens */
  int64_t max_requests;  /* requests of a call */
  int64_t max_query_len; /* new tokens of a request, where rows are ragged */
  int64_t max_rows;      /* new tokens of a call, where rows are ragged */
} winnow_plan_options;

#define WINNOW_PLAN_OPTIONS_INIT                                               \
  {sizeof(winnow_plan_options), 0, 0, 0, 0, 0, 0, 0}

/* The plan of the best lowering that can be had: its contract is held against
 * device and bounds, its kernels are found or compiled, and loaded. The plan
 * belongs to the runtime and lives as long as that; it never changes.
 * Every different question is remembered as long, so ask with the bounds of a
 * server's configuration, not with the lengths of a step.
 *
 * The first call for a bundle, device and options may take a compile's time;
 * later ones are a look-up without a lock, which in background mode gives
 * another, better plan once that is ready. A captured graph keeps the kernels
 * of the plan that was launched into it.
 *
 * Call it before a capture, not within one. Null options are all 0. */
WINNOW_API winnow_status winnow_plan_get(winnow_runtime *runtime,
                                         winnow_bundle *bundle,
                                         winnow_device *device,
                                         const winnow_plan_options *options,
                                         const winnow_plan **plan);

/* Set `size` before the call. Strings live as long as the plan. */
typedef struct winnow_plan_info {
  size_t size;
  const char *entry;
  const char *lowering; /* the one that was chosen: "mfma" */
  const char *from;     /* "bundle", "disk cache", "compiler", ... */
  size_t argument_count;
  /* Serves every call within the plan's bounds; 256-byte aligned. */
  uint64_t workspace_bytes;
  int64_t max_seq_len, max_requests, max_query_len, max_rows;
  /* Better lowerings that were being compiled when this plan was made. */
  size_t compiling_count;
} winnow_plan_info;

#define WINNOW_PLAN_INFO_INIT                                                  \
  {sizeof(winnow_plan_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

WINNOW_API winnow_status winnow_plan_get_info(const winnow_plan *plan,
                                              winnow_plan_info *info);

/* The same number by itself. */
WINNOW_API winnow_status winnow_plan_workspace_bytes(const winnow_plan *plan,
                                                     uint64_t *bytes);

typedef enum winnow_access {
  WINNOW_READ = 0,
  WINNOW_WRITE = 1,
  WINNOW_READ_WRITE = 2
} winnow_access;

/* One argument of a call. Set `size` before the call; strings live as long as
 * the plan. */
typedef struct winnow_argument_info {
  size_t size;
  const char *name;
  winnow_dtype dtype;
  winnow_access access;
  int32_t rank;
  /* Nonzero: dense, row-major. Zero: the last axis has stride 1, the others
   * what `strides` says. */
  int32_t is_contiguous;
  uint32_t alignment;               /* of the address; bytes */
  int64_t extents[WINNOW_MAX_RANK]; /* -1: see `shape` */
  const char *shape; /* "[rows, 1, 128]", "[at least requests, any]" */
  /* In elements, where is_contiguous is 0: the steps that the description
   * fixes, and -1 for those that may be any. All 0 from a library that knows
   * less. */
  int64_t strides[WINNOW_MAX_RANK];
} winnow_argument_info;

#define WINNOW_ARGUMENT_INFO_INIT                                              \
  {sizeof(winnow_argument_info),                                               \
   0,                                                                          \
   WINNOW_F32,                                                                 \
   WINNOW_READ,                                                                \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   {0, 0, 0, 0},                                                               \
   0,                                                                          \
   {0, 0, 0, 0}}

/* `index` counts from 0, in the order of positional tensors. */
WINNOW_API winnow_status winnow_plan_argument(const winnow_plan *plan,
                                              size_t index,
                                              winnow_argument_info *info);

typedef enum winnow_format { WINNOW_TEXT = 0, WINNOW_JSON = 1 } winnow_format;

/* Which lowering it is, where its code came from, and every reason for which no
 * better lowering was taken. Writes at most `bytes` bytes, the last of them 0,
 * and, where `needed` is not null, the bytes that all of it takes. `text` may
 * be null when `bytes` is 0. */
WINNOW_API winnow_status winnow_plan_explain(const winnow_plan *plan,
                                             winnow_format format, char *text,
                                             size_t bytes, size_t *needed);

/* The same of this thread's last winnow_plan_get that got no plan: the error,
 * and every lowering's reasons. In the JSON `lowering` is null, `error` is the
 * text of winnow_last_error() then, `refused` lists each lowering with its
 * reasons; none where the call itself was wrong. WINNOW_ERROR_NOT_FOUND if no
 * such call failed. */
WINNOW_API winnow_status winnow_plan_explain_failure(winnow_format format,
                                                     char *text, size_t bytes,
                                                     size_t *needed);

/* ---- Launches ----------------------------------------------------------- */

/* A tensor in the device's memory. */
typedef struct winnow_tensor {
  const char *name; /* null: its place in the list says which argument it is */
  void *data;       /* may be null only where an extent is 0 */
  winnow_dtype dtype;
  int32_t rank;           /* axes; at most WINNOW_MAX_RANK */
  const int64_t *shape;   /* `rank` extents, in elements */
  const int64_t *strides; /* `rank` steps, in elements; null: contiguous */
} winnow_tensor;

typedef struct winnow_launch_options {
  size_t size;
  void *stream; /* a hipStream_t or CUstream; null: the default stream */
  const winnow_tensor *tensors;
  size_t tensor_count; /* every argument of the plan, once */
  size_t tensor_size;  /* sizeof(winnow_tensor) */
  /* The device's memory, 256-byte aligned, unused by anything else, other
   * launches of the plan included, until the launch is done. What it holds
   * before does not matter, so it needs no preparation and may serve anything
   * else between launches. (After a launch that the device gave up halfway,
   * overwrite it or take other memory: it may hold half a count.) */
  void *workspace;
  size_t workspace_bytes; /* winnow_plan_info.workspace_bytes always suffices */
} winnow_launch_options;

#define WINNOW_LAUNCH_OPTIONS_INIT                                             \
  {sizeof(winnow_launch_options), 0, 0, 0, sizeof(winnow_tensor), 0, 0}

/* Enqueues the plan's kernels. Everything about the call is checked before any
 * of them: names, types, shapes, strides, alignments, null addresses, overlap
 * of an output's rows, the bounds, the workspace. A call with no requests is an
 * error too. Lengths and tables are the device's and are not looked at.
 *
 * Takes less than a microsecond and the driver's time, allocates nothing, takes
 * no lock and waits for nothing; a stream that is being captured sees kernel
 * launches and nothing else. A failing call may allocate its text. On the
 * device "host" it runs the reference, which does all of that. */
WINNOW_API winnow_status winnow_launch(const winnow_plan *plan,
                                       const winnow_launch_options *options);

/* ---- Memory, streams, graphs -------------------------------------------- */

/* For examples and tests; an engine passes its own pointers and streams. */

/* 256-byte aligned. Of 0 bytes null is given, which is no error. */
WINNOW_API winnow_status winnow_memory_allocate(winnow_device *device,
                                                uint64_t bytes, void **memory);
/* Null is fine, as in the other functions that release something. */
WINNOW_API winnow_status winnow_memory_free(winnow_device *device,
                                            void *memory);

typedef enum winnow_copy {
  WINNOW_TO_DEVICE = 0,
  WINNOW_FROM_DEVICE = 1,
  WINNOW_ON_DEVICE = 2
} winnow_copy;

/* In the order of the stream. Copies from and to the host are done when it
 * returns. */
WINNOW_API winnow_status winnow_memory_copy(winnow_device *device, void *to,
                                            const void *from, uint64_t bytes,
                                            winnow_copy direction,
                                            void *stream);

/* A stream that does not wait for the default one. */
WINNOW_API winnow_status winnow_stream_create(winnow_device *device,
                                              void **stream);
WINNOW_API winnow_status winnow_stream_release(winnow_device *device,
                                               void *stream);
WINNOW_API winnow_status winnow_stream_synchronize(winnow_device *device,
                                                   void *stream);

/* From begin to end the stream's launches are written down, not done; the graph
 * of them can be launched again and again. The tensors, the workspace and the
 * runtime have to outlive it. */
WINNOW_API winnow_status winnow_capture_begin(winnow_device *device,
                                              void *stream);
WINNOW_API winnow_status winnow_capture_end(winnow_device *device, void *stream,
                                            void **graph);
WINNOW_API winnow_status winnow_graph_launch(winnow_device *device, void *graph,
                                             void *stream);
WINNOW_API winnow_status winnow_graph_release(winnow_device *device,
                                              void *graph);

WINNOW_API winnow_status winnow_event_create(winnow_device *device,
                                             void **event);
WINNOW_API winnow_status winnow_event_release(winnow_device *device,
                                              void *event);
WINNOW_API winnow_status winnow_event_record(winnow_device *device, void *event,
                                             void *stream);
/* Waits for `end`. */
WINNOW_API winnow_status winnow_event_elapsed(winnow_device *device,
                                              void *start, void *end,
                                              float *milliseconds);

#ifdef __cplusplus
}
#endif

#endif /* WINNOW_H */
