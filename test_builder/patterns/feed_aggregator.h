#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_FEED_AGGREGATOR_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_FEED_AGGREGATOR_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// A driver, aggregators and leaves, with the message sizes of a feed.
Pattern FeedAggregatorPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_FEED_AGGREGATOR_H_
