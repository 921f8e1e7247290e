/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What libwinnow_hip_sim.so, a HIP library over the simulated gfx950, offers
 * besides HIP's own functions: failures on demand, a record of calls, other
 * devices to pretend. For tests of code that uses HIP.
 *
 * The library has the HIP functions that Winnow's hip device calls, with
 * amdhip64's binary interface. Work on a stream is put off until something
 * waits for it (or 1024 operations are queued), so that a missing
 * synchronisation shows; a copy from or to host memory is done at once, as for
 * pageable memory. Of the calls that a capture forbids, those are refused that
 * the documents of HIP or CUDA name; the refusal invalidates the capture.
 * hipModuleLaunchKernel takes its arguments packed (`extra`) only.
 *
 * Everything may be called from several threads. */
#ifndef WINNOW_HIPSIM_HOOKS_H
#define WINNOW_HIPSIM_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The `nth` call from now of `function` ("hipMalloc"; 1 is the next one)
 * returns the hipError_t `code` and does nothing else. 0 forgets it. */
void winnow_hip_sim_fail(const char *function, uint64_t nth, int code);

/* Calls of `function`, or of all functions for a null pointer, since the last
 * reset; failed ones count too. */
uint64_t winnow_hip_sim_count(const char *function);

/* The calls since the last reset, one a line: "hipMalloc bytes=4096 -> 0".
 * Writes at most `bytes` bytes, the last of them 0, and returns the bytes that
 * all of it needs. At most 65536 lines are kept. */
size_t winnow_hip_sim_calls(char *text, size_t bytes);

/* With `on`, kernel launches are taken and forgotten, without a look, a lock or
 * an allocation, and are not recorded: for timing the code above. */
void winnow_hip_sim_drop_launches(int on);

/* `count` (0 to 8) devices, each with this gcnArchName; null leaves
 * "gfx950:sramecc+:xnack-". Modules for an architecture other than gfx950 are
 * loaded unread, and launches of them are recorded and dropped. */
void winnow_hip_sim_set_devices(int count, const char *arch);

/* The simulator's own words for the last fault of a kernel; as
 * winnow_hip_sim_calls. */
size_t winnow_hip_sim_fault(char *text, size_t bytes);

/* Forgets failures, records, faults and pretended devices. Memory, streams and
 * modules stay. */
void winnow_hip_sim_reset(void);

#ifdef __cplusplus
}
#endif

#endif /* WINNOW_HIPSIM_HOOKS_H */
