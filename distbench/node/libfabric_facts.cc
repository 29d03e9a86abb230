#include "distbench/node/libfabric_facts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/write_all.h"
#include "optional_libraries.h"

namespace distbench::node {
namespace {

// Looking takes some milliseconds. This is for hosts that are busy.
constexpr absl::Duration kPatience = absl::Seconds(5);

HostFacts NotKnown(absl::string_view problem) {
  HostFacts facts;
  facts.set_libfabric_problem(std::string(problem));
  return facts;
}

HostFacts ParseAnswer(const std::string& bytes) {
  HostFacts answer;
  if (!answer.ParseFromString(bytes)) {
    return NotKnown("the process that looked for providers gave no answer");
  }
  HostFacts facts;
  facts.mutable_libfabric_providers()->Swap(
      answer.mutable_libfabric_providers());
  if (answer.has_libfabric_problem()) {
    facts.set_libfabric_problem(answer.libfabric_problem());
  }
  return facts;
}

// What a child that has ended has written; it fits into the pipe.
std::string ReadPipe(const base::FileDescriptor& pipe) {
  std::string bytes;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(pipe.get(), buffer, sizeof(buffer))) > 0) {
    bytes.append(buffer, static_cast<size_t>(count));
  }
  return bytes;
}

}  // namespace

bool TellLibfabricProviders(const HostFacts& facts) {
  struct stat pipe = {};
  if (fstat(base::ChildProgram::kInheritedNumber, &pipe) != 0 ||
      !S_ISFIFO(pipe.st_mode)) {
    return false;
  }
  return base::WriteAll(base::ChildProgram::kInheritedNumber,
                        facts.SerializeAsString());
}

HostFacts FindLibfabricProviders() {
#if DISTBENCH_HAS_LIBFABRIC
  return FindLibfabricProviders(
      {.path = "/proc/self/exe",  // also if the program's file was replaced
       .arguments = {"distbench", kLibfabricProvidersSubcommand}},
      kPatience);
#else
  return NotKnown("distbench was built without libfabric-dev");
#endif
}

HostFacts FindLibfabricProviders(base::ChildProgram program,
                                 absl::Duration patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return NotKnown(absl::ErrnoToStatus(errno, "cannot make a pipe").message());
  }
  const base::FileDescriptor from_child(ends[0]);
  base::FileDescriptor to_parent(ends[1]);
  program.inherited = to_parent.get();
  program.ends_with_parent = true;
  program.end_signal = SIGKILL;
  auto child = base::ChildProcess::Start(std::move(program));
  to_parent = base::FileDescriptor();
  if (!child.ok()) return NotKnown(child.status().message());
  const bool has_ended = child->HasEnded(patience);
  const int exit = child->Finish();
  if (!has_ended) {
    return NotKnown(absl::StrCat("looking for providers took longer than ",
                                 absl::FormatDuration(patience)));
  }
  if (exit != 0) {
    return NotKnown(absl::StrCat("the process that looked for providers ",
                                 base::DescribeExit(exit)));
  }
  return ParseAnswer(ReadPipe(from_child));
}

}  // namespace distbench::node
