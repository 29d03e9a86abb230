// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/results/legacy_results.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_encoding.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/text_format.h"

namespace distbench::results {
namespace {

using google::protobuf::Arena;
using google::protobuf::TextFormat;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::CopyingInputStream;
using google::protobuf::io::CopyingInputStreamAdaptor;
using google::protobuf::io::ErrorCollector;
using google::protobuf::io::FileOutputStream;
using google::protobuf::io::GzipOutputStream;
using google::protobuf::io::ZeroCopyInputStream;
using google::protobuf::io::ZeroCopyOutputStream;

// ---- Writing ----------------------------------------------------------------

// Equal results make equal files: maps are sorted, as in text.
bool PrintBinary(const TestSequenceResults& results,
                 ZeroCopyOutputStream& stream) {
  CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  if (!results.SerializeToCodedStream(&coded)) return false;
  coded.Trim();
  return !coded.HadError();
}

// ---- Reading ----------------------------------------------------------------

// Keeps the first error, with line and column in editors' notation.
class FirstError final : public ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) {
      text_ = line < 0 ? message
                       : absl::StrCat("line ", line + 1, ", column ",
                                      column + 1, ": ", message);
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status ParseText(ZeroCopyInputStream& stream,
                       TestSequenceResults& results) {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.Parse(&stream, &results)) {
    if (absl::StrContains(error.text(),
                          "TestSequenceResults\" has no field named \"tests")) {
      return absl::InvalidArgumentError(
          "it is a config, no result; distbench run_tests FILE "
          "--outfile=RESULT runs it, and writes what can be read here");
    }
    return absl::InvalidArgumentError(
        absl::StrCat("not results in text format: ", error.text()));
  }
  return absl::OkStatus();
}

absl::Status Parse(ZeroCopyInputStream& stream, TestSequenceResults& results) {
  const void* data;
  int size;
  if (!stream.Next(&data, &size)) {
    return absl::InvalidArgumentError("the file is empty");
  }
  stream.BackUp(size);
  const absl::string_view beginning(static_cast<const char*>(data), size);
  if (LooksLikeText(beginning)) {
    return ParseText(stream, results);
  }
  if (!results.ParseFromZeroCopyStream(&stream)) {
    return absl::InvalidArgumentError(
        "not a result of distbench, or cut off: expected TestSequenceResults, "
        "binary or text, plain or compressed by gzip");
  }
  // Other messages parse, too: all of their fields are unknown then.
  if (!results.unknown_fields().empty() && results.test_results().empty() &&
      results.searches().empty()) {
    return absl::InvalidArgumentError(
        "not a result of tests; the jobs of distbench bench are printed by "
        "distbench bench -r FILE format");
  }
  return absl::OkStatus();
}

// Of messages, for each byte that a file may have.
constexpr int64_t kMemoryPerByte = 4;

absl::Status TooLargeError(int64_t max_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "it has more than ", max_bytes >> 20, " MiB uncompressed, or takes more ",
      "than ", kMemoryPerByte * max_bytes >> 20,
      " MiB of memory, which is the limit here; distbench report reads it "
      "without a limit, and tests that keep fewer samples have smaller "
      "results"));
}

// The bytes of a file, uncompressed, while they and the messages that are made
// of them stay within a limit.
class MeteredFile final : public CopyingInputStream {
 public:
  // Takes ownership of the descriptor. `arena` has the messages that count.
  MeteredFile(int fd, int64_t max_bytes, const Arena& arena)
      : file_(fd), max_bytes_(max_bytes), arena_(arena) {}

  int Read(void* buffer, int size) override {
    const int count = file_.Read(buffer, size);
    if (count > 0) bytes_ += count;
    return IsTooLarge() ? -1 : count;
  }

  absl::Status status() const {
    return IsTooLarge() ? TooLargeError(max_bytes_) : file_.status();
  }

 private:
  bool IsTooLarge() const {
    return bytes_ > max_bytes_ ||
           static_cast<int64_t>(arena_.SpaceAllocated()) / kMemoryPerByte >
               max_bytes_;
  }

  UncompressedFile file_;
  const int64_t max_bytes_;
  const Arena& arena_;
  int64_t bytes_ = 0;
};

absl::Status ReadInto(base::FileDescriptor fd, int64_t max_bytes,
                      TestSequenceResults& results) {
  struct stat attributes;
  if (fstat(fd.get(), &attributes) == 0 && attributes.st_size > max_bytes) {
    return TooLargeError(max_bytes);
  }
  // Only an arena knows its size soon enough, but a copy must leave it.
  Arena arena;
  const bool is_limited = max_bytes != kUnlimitedBytes;
  TestSequenceResults& read =
      is_limited ? *Arena::CreateMessage<TestSequenceResults>(&arena) : results;
  MeteredFile file(fd.Release(), max_bytes, arena);
  CopyingInputStreamAdaptor stream(&file);
  absl::Status status = Parse(stream, read);
  // If parsing failed because of a read error, or did not notice it, report
  // that error.
  if (!file.status().ok()) status = file.status();
  if (status.ok() && is_limited) results = read;
  return status;
}

absl::Status ValidateLogs(const TestResult& result) {
  absl::Status first_error;
  ForEachRpcLog(result, [&](const RpcLogView& view) {
    const absl::Status status = ValidateStatistics(view.log.statistics());
    if (!status.ok() && first_error.ok()) {
      first_error = absl::InvalidArgumentError(
          absl::StrCat("statistics of ", view.rpc_name, " from ", view.client,
                       " to ", view.server, ": ", status.message()));
    }
  });
  return first_error;
}

}  // namespace

UncompressedFile::UncompressedFile(int fd) : file_(gzdopen(fd, "rb")) {
  gzbuffer(file_, 1 << 17);
}

UncompressedFile::~UncompressedFile() { gzclose(file_); }

int UncompressedFile::Read(void* buffer, int size) {
  const int count = gzread(file_, buffer, size);
  // zlib 1.3.2 forgets with the next call that the data ended too early.
  if (status_.ok()) status_ = LastStatus();
  return count;
}

// Of zlib's last call; errno is still that of the call.
absl::Status UncompressedFile::LastStatus() const {
  const int error_number = errno;
  int code = Z_OK;
  const char* message = gzerror(file_, &code);
  if (code == Z_OK || code == Z_STREAM_END) {
    return absl::OkStatus();
  }
  if (code == Z_ERRNO) {
    return absl::ErrnoToStatus(error_number, "read error");
  }
  if (code == Z_BUF_ERROR) {
    return absl::DataLossError("the compressed data ends too early");
  }
  return absl::DataLossError(
      absl::StrCat("the compressed data is damaged: ", message));
}

absl::Status CompleteResults(TestSequenceResults& results) {
  for (int i = 0; i < results.test_results_size(); ++i) {
    TestResult& result = *results.mutable_test_results(i);
    AddMissingStatistics(result);
    if (absl::Status status = ValidateLogs(result); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("test_results[", i, "]: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteStream(
    const std::string& path,
    absl::FunctionRef<bool(ZeroCopyOutputStream& stream)> print) {
  const absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Open(path);
  if (!file.ok()) return file.status();
  FileOutputStream stream((*file)->fd());
  bool is_printed = false;
  if (absl::EndsWith(path, ".gz")) {
    GzipOutputStream compressed(&stream);
    is_printed = print(compressed) && compressed.Close();
  } else {
    is_printed = print(stream);
  }
  if (!is_printed || !stream.Flush()) {
    // Not every failure is one of the file: the content may not be encodable.
    if (stream.GetErrno() == 0) {
      return absl::InternalError(absl::StrCat(
          "cannot write ", path, ": its content cannot be encoded"));
    }
    return WriteError(path, stream.GetErrno());
  }
  return (*file)->Commit();
}

absl::Status WriteResults(const TestSequenceResults& results,
                          const std::string& path, ResultEncoding encoding) {
  if (encoding == ResultEncoding::kBinary && results.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot write ", path, ": the results take ", results.ByteSizeLong(),
        " bytes, and a binary result may have 2 GiB; keep fewer samples, or "
        "write each test into a file of its own"));
  }
  return WriteStream(path, [&](ZeroCopyOutputStream& stream) {
    return encoding == ResultEncoding::kText
               ? TextFormat::Print(results, &stream)
               : PrintBinary(results, stream);
  });
}

absl::StatusOr<TestSequenceResults> ReadResults(const std::string& path,
                                                int64_t max_bytes) {
  base::FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  TestSequenceResults results;
  absl::Status status = ReadInto(std::move(fd), max_bytes, results);
  if (status.ok()) status = CompleteResults(results);
  if (status.ok()) return results;
  return absl::Status(status.code(), absl::StrCat("cannot read ", path, ": ",
                                                  status.message()));
}

}  // namespace distbench::results
