// Preload this into a program to set its Unix time ahead by SHIFT_CLOCK_NS, or
// back if it is negative; from the beginning, or from the Unix time
// SHIFT_CLOCK_FROM_NS on. This simulates hosts with different clocks, and clocks
// that jump, on one machine. Monotonic time is not changed.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kNsPerSecond = 1000000000 };

static long long Variable(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atoll(text);
}

static long long Shifted(long long ns) {
  if (ns < Variable("SHIFT_CLOCK_FROM_NS")) return ns;
  return ns + Variable("SHIFT_CLOCK_NS");
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) {
    const long long ns =
        Shifted(time->tv_sec * (long long)kNsPerSecond + time->tv_nsec);
    time->tv_sec = ns / kNsPerSecond;
    time->tv_nsec = ns % kNsPerSecond;
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
