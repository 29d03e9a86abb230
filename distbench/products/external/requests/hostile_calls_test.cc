// Calls that somebody has made to harm who checks them: the sequencer, for one.

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/external/requests/check_call.h"
#include "distbench/products/external/requests/descriptors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using ::testing::HasSubstr;

// More than a thread's stack has room for.
constexpr int kVeryMany = 100'000;

std::string Repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

void AddField(DescriptorProto& type, const std::string& type_name) {
  FieldDescriptorProto& field = *type.add_field();
  field.set_name("next");
  field.set_number(1);
  field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
  field.set_type(FieldDescriptorProto::TYPE_MESSAGE);
  field.set_type_name(type_name);
}

// A service whose method /S/Call takes T0, the first of a ring of types.
FileDescriptorSet RingOfTypes(int count) {
  FileDescriptorSet set;
  FileDescriptorProto& file = *set.add_file();
  file.set_name("ring.proto");
  for (int i = 0; i < count; ++i) {
    DescriptorProto& type = *file.add_message_type();
    type.set_name(absl::StrCat("T", i));
    AddField(type, absl::StrCat(".T", (i + 1) % count));
  }
  auto& service = *file.add_service();
  service.set_name("S");
  auto& method = *service.add_method();
  method.set_name("Call");
  method.set_input_type(".T0");
  method.set_output_type(".T0");
  return set;
}

// Files that import one another, the first one first.
FileDescriptorSet ChainOfFiles(int count) {
  FileDescriptorSet set;
  for (int i = 0; i < count; ++i) {
    FileDescriptorProto& file = *set.add_file();
    file.set_name(absl::StrCat("f", i));
    if (i + 1 < count) file.add_dependency(absl::StrCat("f", i + 1));
  }
  return set;
}

std::string ProblemOf(const FileDescriptorSet& set, std::string request,
                      bool is_json) {
  ExternalCall call;
  call.method = "/S/Call";
  call.request = std::move(request);
  call.is_json = is_json;
  call.descriptors = set.SerializeAsString();
  return base::Message(CheckExternalCall(call));
}

std::string ProblemOf(const FileDescriptorSet& set) {
  return base::Message(Descriptors::Parse(set.SerializeAsString()).status());
}

TEST(HostileCallsTest, DeepRequestsAreRefused) {
  const FileDescriptorSet set = RingOfTypes(1);
  EXPECT_EQ(ProblemOf(set, "next {next {}}", /*is_json=*/false), "");
  EXPECT_NE(ProblemOf(set, Repeated("next {", kVeryMany), /*is_json=*/false),
            "");
  EXPECT_NE(ProblemOf(set, Repeated("{\"next\":", kVeryMany), /*is_json=*/true),
            "");
}

TEST(HostileCallsTest, SoAreRequestsOfVeryManyTypes) {
  EXPECT_EQ(ProblemOf(RingOfTypes(4000), "{}", /*is_json=*/true), "");
  EXPECT_THAT(ProblemOf(RingOfTypes(kVeryMany), "{}", /*is_json=*/true),
              HasSubstr("T0 consists of more than 4000 types"));
}

TEST(HostileCallsTest, ImportsMayFormLongChainsButNoCycles) {
  FileDescriptorSet files = ChainOfFiles(kVeryMany);
  EXPECT_EQ(ProblemOf(files), "");
  files.mutable_file()->rbegin()->add_dependency("f0");
  EXPECT_THAT(ProblemOf(files), HasSubstr("imports itself"));
}

// Every name in a package, and every package around it, has a copy of its name.
TEST(HostileCallsTest, LongNamesDoNotMultiply) {
  FileDescriptorSet set;
  set.add_file()->set_name("a.proto");
  set.mutable_file(0)->set_package(Repeated("p.", kVeryMany) + "p");
  EXPECT_THAT(ProblemOf(set), HasSubstr("longer than 1000"));
  set.mutable_file(0)->set_package("p");
  DescriptorProto& type = *set.mutable_file(0)->add_message_type();
  type.set_name("T");
  type.add_nested_type()->set_name(Repeated("N", 1000));
  EXPECT_THAT(ProblemOf(set), HasSubstr("longer than 1000"));
}

TEST(HostileCallsTest, VariablesDoNotMultiplyRequests) {
  ExternalCall call;
  call.method = "/S/Call";
  call.rows = {{"a"}, {std::string(1 << 20, 'x')}};
  for (const char* variable : {"{{random_hex:4096}}", "{{row:a}}"}) {
    call.request = Repeated(variable, kVeryMany);
    EXPECT_THAT(base::Message(CheckExternalCall(call)),
                HasSubstr("request: its variables can make it"))
        << variable;
  }
}

}  // namespace
}  // namespace distbench::external
