/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of Winnow's compiler, libwinnow_compiler.so: a description's
 * text in, the bytes of a bundle out, for winnow_bundle_open_memory. A library
 * of its own, since it links MLIR and LLVM, which a server that ships bundles
 * does without.
 *
 * C99; no exception crosses it. Every function may be called from several
 * threads at once. No file is read or written. */
#ifndef WINNOW_COMPILER_H
#define WINNOW_COMPILER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WINNOW_COMPILER_API __attribute__((visibility("default")))
#else
#define WINNOW_COMPILER_API
#endif

typedef enum winnow_compiler_status {
  WINNOW_COMPILER_OK = 0,
  /* The call: a null pointer, a structure of unknown size. */
  WINNOW_COMPILER_ERROR_ARGUMENT = 1,
  /* The description is refused: its text, its contract, or no lowering takes
   * it. The text has every diagnostic with file, line and source line. */
  WINNOW_COMPILER_ERROR_DESCRIPTION = 2,
  WINNOW_COMPILER_ERROR_MEMORY = 3,
  WINNOW_COMPILER_ERROR_INTERNAL = 4
} winnow_compiler_status;

/* As in winnow.h: `size` first, new fields at the end, 0 means the default. */
typedef struct winnow_compiler_options {
  size_t size;
  const char *arch; /* what the kernels are for; null: "gfx950" */
  /* A lowering to try before the others, "mfma", "generic", or both where one
   * scores and the other selects ("mfma-generic"): the bundle has what comes of
   * that alone. Null: the best first, and the portable one behind it for
   * devices and bounds that refuse the best. */
  const char *prefer;
} winnow_compiler_options;

#define WINNOW_COMPILER_OPTIONS_INIT {sizeof(winnow_compiler_options), 0, 0}

/* "0.1.0". Static. */
WINNOW_COMPILER_API const char *winnow_compiler_version(void);

/* The text of this thread's last error, "" if there was none; valid until its
 * next. */
WINNOW_COMPILER_API const char *winnow_compiler_last_error(void);

/* Compiles the `text_bytes` bytes of a description (MLIR text, or its bytecode)
 * to HIP, and gives the bundle, which has no code objects: a runtime compiles
 * them. `name` stands for the file in diagnostics; null: "description". Null
 * options are all 0. After an error *bundle is null and *bundle_bytes 0. */
WINNOW_COMPILER_API winnow_compiler_status
winnow_compiler_compile(const char *text, size_t text_bytes, const char *name,
                        const winnow_compiler_options *options, void **bundle,
                        size_t *bundle_bytes);

/* Frees what winnow_compiler_compile gave. Null is fine. */
WINNOW_COMPILER_API void winnow_compiler_free(void *bundle);

#ifdef __cplusplus
}
#endif

#endif /* WINNOW_COMPILER_H */
