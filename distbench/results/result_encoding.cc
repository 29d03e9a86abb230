// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_encoding.h"

#include <errno.h>
#include <fcntl.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace distbench::results {

bool LooksLikeText(absl::string_view beginning) {
  const absl::string_view first_word =
      absl::StripLeadingAsciiWhitespace(beginning);
  if (absl::StartsWith(first_word, "test_results")) {
    return true;
  }
  for (unsigned char c : beginning) {
    if (!absl::ascii_isprint(c) && !absl::ascii_isspace(c)) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<ResultEncoding> EncodingOf(const std::string& path) {
  base::FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  UncompressedFile file(fd.Release());
  google::protobuf::io::CopyingInputStreamAdaptor stream(&file);
  const void* data = nullptr;
  int size = 0;
  if (!stream.Next(&data, &size)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read ", path, ": it is empty or damaged"));
  }
  return LooksLikeText(
             {static_cast<const char*>(data), static_cast<size_t>(size)})
             ? ResultEncoding::kText
             : ResultEncoding::kBinary;
}

}  // namespace distbench::results
