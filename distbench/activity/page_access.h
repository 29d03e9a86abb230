// Filling and touching pages of memory that several threads may use at the same
// time: single words are never torn, and that is all that is promised.

#ifndef DISTBENCH_ACTIVITY_PAGE_ACCESS_H_
#define DISTBENCH_ACTIVITY_PAGE_ACCESS_H_

#include <cstdint>

#include "distbench/activity/held_memory.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {

// Writes random bytes, which do not compress.
void FillAtRandom(const PageRange& pages, WorkRandom& random);

// Writes the same random 64 bytes over and over, which compresses well. A page
// of equal words would be too easy: kernels keep such a page as one word.
void FillWithRepetition(const PageRange& pages, WorkRandom& random);

// Reads the first word of each page, and returns the sum.
uint64_t ReadPages(const PageRange& pages);

// Writes the first word of each page.
void WritePages(const PageRange& pages, uint64_t value);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_PAGE_ACCESS_H_
