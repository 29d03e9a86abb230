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
  int64_t bytes = 1;  // uncompressed, per iteration; at most those of corpus
  int parallelism = 1;
  CorpusOptions corpus;
};

// Each iteration compresses a piece of the corpus, whose position depends on
// the iteration's number. Its parts are separate blocks.
std::unique_ptr<Activity> MakeCompress(const CompressOptions& options);

// Each iteration decompresses one of a few such pieces.
std::unique_ptr<Activity> MakeDecompress(const CompressOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_COMPRESS_H_
