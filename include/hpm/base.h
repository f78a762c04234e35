/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What every public header of libhpmem shares: visibility, the words about threads, the reason a
 * call failed, and the one log hook.
 *
 * Errors: a call that can fail for more than one reason returns `int`: 0 or a documented count, or
 * a negative errno. `errno` is never the channel. The number is for code; the sentence for people
 * goes to a `struct hpm_reason` of the caller's.
 *
 * Threads: every prototype says one of these.
 *
 * | word                     | meaning                                                            |
 * |--------------------------|--------------------------------------------------------------------|
 * | any thread               | internally locked or lock-free; may block unless it says so        |
 * | owner thread             | only the thread (lcore) that the object is bound to                |
 * | one writer, many readers | the caller serialises writers; readers never wait                  |
 * | set-up only              | before workers start or after they stop                            |
 * | fast path                | owner thread; no lock, no system call, no allocation, bounded steps
 * |
 *
 * The library has no constructor, starts no thread, installs no signal handler and reads no
 * environment variable.
 */
#ifndef HPM_BASE_H
#define HPM_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPM_VERSION "0.1.0" /**< of these headers; hpm_version() is the library's. */

#if defined(__GNUC__)
#define HPM_API          __attribute__((visibility("default")))
#define HPM_MUST_USE     __attribute__((warn_unused_result))
#define HPM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define HPM_API
#define HPM_MUST_USE
#define HPM_PRINTF(f, a)
#endif

#define HPM_CACHE_LINE 64 /**< Bytes; x86-64 and the Arm cores DPDK runs on. */

#define HPM_NODE_LOCAL (-1) /**< The NUMA node of the CPU the caller runs on. */

#define HPM_NAME_MAX 32 /**< Bytes of a name or tag, its terminating NUL included. */

/** Why a call failed, in a sentence that says what to do next. The caller owns it. */
struct hpm_reason {
	char text[256]; /**< NUL-terminated, cut at the end if longer; "" when nothing failed. */
};

/** Severity of a log message; the numbers are syslog's. */
enum hpm_log_level {
	HPM_LOG_ERR = 3,
	HPM_LOG_WARNING = 4,
	HPM_LOG_NOTICE = 5,
	HPM_LOG_INFO = 6,
	HPM_LOG_DEBUG = 7
};

/**
 * Receives log messages.
 *
 * @param arg   what hpm_log_set() was given.
 * @param level enum hpm_log_level.
 * @param where room of the library, e.g. "region"; borrowed during the call.
 * @param msg   one sentence without newline; borrowed during the call.
 */
typedef void hpm_log_fn(void *arg, int level, const char *where, const char *msg);

/**
 * Installs the log hook; the library is silent without one.
 *
 * @param fn        NULL switches logging off.
 * @param arg       kept until the next call, passed to @p fn.
 * @param max_level messages above it are dropped before they are formatted.
 *
 * Threads: set-up only.
 */
HPM_API void hpm_log_set(hpm_log_fn *fn, void *arg, int max_level);

/**
 * Version of the library that is loaded, e.g. "0.1.0"; static storage.
 *
 * Threads: any thread.
 */
HPM_API const char *hpm_version(void);

#ifdef __cplusplus
}
#endif
#endif
