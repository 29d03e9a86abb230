#ifndef DISTBENCH_ACTIVITY_COMPRESS_H_
#define DISTBENCH_ACTIVITY_COMPRESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "distbench/activity/activity.h"
#include "distbench/activity/corpus.h"

namespace distbench {

struct CompressOptions {
  std::string algorithm = "zstd";  // see MakeCompressor()
  int level = 0;
  int64_t bytes = 1;  // of each iteration, uncompressed; at most the corpus'
  int parallelism = 1;
  CorpusOptions corpus;
};

// Each iteration compresses a piece of the corpus, from a place that depends on
// its number; its parts are blocks of their own.
std::unique_ptr<Activity> MakeCompress(const CompressOptions& options);

// Each iteration decompresses one of a few such pieces.
std::unique_ptr<Activity> MakeDecompress(const CompressOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_COMPRESS_H_
