#include "distbench/config/reading/referenced_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// Whether a path may lead out of the folder of its config. What somebody else
// has written must not make its reader send away any file.
bool LeavesFolder(const std::filesystem::path& file) {
  return file.is_absolute() ||
         std::find(file.begin(), file.end(), "..") != file.end();
}

class FileReader {
 public:
  explicit FileReader(const std::string& config)
      : folder_(std::filesystem::path(config).parent_path()) {}

  void Read(const Path& path, DistributedSystemDescription& test) {
    for (ServiceSpec& service : *test.mutable_services()) {
      if (!service.external().tls().has_ca_file()) continue;
      ExternalTls& tls = *service.mutable_external()->mutable_tls();
      FillCertificates(path.Field("services")
                           .At(service.name())
                           .Field("external")
                           .Field("tls"),
                       tls);
    }
    for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
      if (!rpc.has_external_call()) continue;
      Read(path.Field("rpc_descriptions").At(rpc.name()).Field("external_call"),
           *rpc.mutable_external_call());
    }
    for (Action& action : *test.mutable_actions()) {
      if (!action.iterations().has_arrivals()) continue;
      Read(path.Field("actions")
               .At(action.name())
               .Field("iterations")
               .Field("arrivals"),
           *action.mutable_iterations()->mutable_arrivals());
    }
  }

  std::vector<Problem> TakeProblems() { return std::move(problems_).Take(); }

 private:
  void Read(const Path& path, ExternalCallSpec& call) {
    if (call.has_request_file()) FillRequest(path, call);
    if (call.has_descriptor_set_file()) {
      Fill(path, "descriptor_set_file", call.descriptor_set_file(),
           *call.mutable_descriptors());
    }
    if (call.has_rows_file()) {
      Fill(path, "rows_file", call.rows_file(), *call.mutable_rows());
    }
  }

  void Read(const Path& path, Arrivals& arrivals) {
    if (arrivals.recorded().has_file()) {
      Fill(path.Field("recorded"), "file", arrivals.recorded().file(),
           *arrivals.mutable_recorded()->mutable_times());
    }
    // Further ones are reported, and not read.
    for (int i = 0; i < arrivals.superposed_size(); ++i) {
      if (!arrivals.superposed(i).recorded().has_file()) continue;
      RecordedArrivals& recorded =
          *arrivals.mutable_superposed(i)->mutable_recorded();
      Fill(path.Field("superposed").At(i).Field("recorded"), "file",
           recorded.file(), *recorded.mutable_times());
    }
  }

  // Results have the certificates, and files with them may have keys, too.
  void FillCertificates(const Path& path, ExternalTls& tls) {
    Fill(path, "ca_file", tls.ca_file(), *tls.mutable_ca_certificates());
    if (!absl::StrContains(tls.ca_certificates(), "PRIVATE KEY")) return;
    problems_.Add(path.Field("ca_file"),
                  absl::StrCat(Quoted(tls.ca_file()),
                               " has a private key; name a file that has "
                               "certificates only"));
  }

  void FillRequest(const Path& path, ExternalCallSpec& call) {
    if (call.has_request_json() || call.has_request_text()) return;
    constexpr char kField[] = "request_file";
    const std::string& file = call.request_file();
    if (absl::EndsWith(file, ".json")) {
      Fill(path, kField, file, *call.mutable_request_json());
      return;
    }
    for (const char* ending : {".txtpb", ".textproto", ".pbtxt"}) {
      if (!absl::EndsWith(file, ending)) continue;
      Fill(path, kField, file, *call.mutable_request_text());
      return;
    }
    problems_.Add(path.Field(kField),
                  absl::StrCat(Quoted(file),
                               " has no ending that says how to read it; let "
                               "it end with .json, or with .txtpb, "
                               ".textproto or .pbtxt"));
  }

  // Leaves a content that is not empty alone.
  void Fill(const Path& path, const char* field, const std::string& file,
            std::string& content) {
    if (!content.empty()) return;
    if (file.empty() || file == "-") {
      problems_.Add(path.Field(field), "names no file; write its path");
      return;
    }
    if (LeavesFolder(file)) {
      problems_.Add(path.Field(field),
                    absl::StrCat(Quoted(file),
                                 " is outside of the folder of the config, "
                                 "which must not name any file of a host; copy "
                                 "it there, or link to it from there"));
      return;
    }
    absl::StatusOr<std::string> read =
        base::ReadFile((folder_ / file).string(), kMaxReferencedBytes);
    if (read.ok()) {
      content = *std::move(read);
    } else {
      problems_.Add(path.Field(field), std::string(read.status().message()));
    }
  }

  const std::filesystem::path folder_;
  Problems problems_;
};

}  // namespace

absl::Status ReadReferencedFiles(const std::string& config,
                                 TestSequence& sequence) {
  FileReader reader(config);
  for (int i = 0; i < sequence.tests_size(); ++i) {
    reader.Read(Path("tests").At(i), *sequence.mutable_tests(i));
  }
  return ToStatus(reader.TakeProblems());
}

}  // namespace distbench::config
