// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Preload this into a program to set its Unix time ahead by SHIFT_CLOCK_NS, or
// back if it is negative; from the beginning, or from the Unix time
// SHIFT_CLOCK_FROM_NS on. This simulates hosts with different clocks, and
// clocks that jump, on one machine. Monotonic time is not changed, nor how long
// a wait takes that ends at a Unix time, as those of Abseil's mutexes do.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kNsPerSecond = 1000000000 };

// The year 2200.
static const long long kFarSeconds = 7258118400;

typedef long (*Syscall)(long, ...);

// That of the C library.
static long CallKernel(long number, const long* values) {
  static Syscall next;
  if (next == NULL) next = (Syscall)dlsym(RTLD_NEXT, "syscall");
  return next(number, values[0], values[1], values[2], values[3], values[4],
              values[5]);
}

static long long Variable(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atoll(text);
}

static long long ToNs(const struct timespec* time) {
  return time->tv_sec * (long long)kNsPerSecond + time->tv_nsec;
}

static struct timespec FromNs(long long ns) {
  const struct timespec time = {ns / kNsPerSecond, ns % kNsPerSecond};
  return time;
}

static long long ShiftAt(long long ns) {
  return ns < Variable("SHIFT_CLOCK_FROM_NS") ? 0 : Variable("SHIFT_CLOCK_NS");
}

// The kernel's Unix time.
static long long KernelNs(void) {
  struct timespec now;
  const long values[6] = {CLOCK_REALTIME, (long)&now};
  CallKernel(SYS_clock_gettime, values);
  return ToNs(&now);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const long values[6] = {clock, (long)time};
  const int result = (int)CallKernel(SYS_clock_gettime, values);
  if (result == 0 && clock == CLOCK_REALTIME) {
    const long long ns = ToNs(time);
    *time = FromNs(ns + ShiftAt(ns));
  }
  return result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t* seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

// Translates the ends of waits into the kernel's time.
long syscall(long number, ...) {
  long values[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; ++i) values[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number != SYS_futex || !(values[1] & FUTEX_CLOCK_REALTIME) ||
      values[3] == 0) {
    return CallKernel(number, values);
  }
  const struct timespec* wanted = (const struct timespec*)values[3];
  // Nanoseconds of a wait without end would overflow.
  if (wanted->tv_sec > kFarSeconds) return CallKernel(number, values);
  const long long end_ns = ToNs(wanted) - ShiftAt(KernelNs());
  const struct timespec end = FromNs(end_ns > 0 ? end_ns : 0);
  values[3] = (long)&end;
  return CallKernel(number, values);
}
