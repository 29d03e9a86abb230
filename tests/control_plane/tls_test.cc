// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests a control plane with TLS: admitted and refused peers, and the errors.

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/client/test_client.h"
#include "distbench/hosting/testing/fake_engine.h"
#include "distbench/node/node_manager.h"
#include "distbench/security/credentials.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  void StartSequencer(const security::TlsFiles& files,
                      security::AccessRules access = {}) {
    sequencer::SequencerOptions options;
    options.listen_address = "localhost";
    options.port = 0;
    options.tls =
        security::TlsCredentials::Load(files, security::TlsRole::kSequencer)
            .value();
    options.access = std::move(access);
    auto sequencer = sequencer::SequencerServer::Start(std::move(options));
    ASSERT_TRUE(sequencer.ok()) << sequencer.status();
    sequencer_ = *std::move(sequencer);
  }

  std::string address() const {
    return absl::StrCat("localhost:", sequencer_->port());
  }

  absl::StatusOr<std::unique_ptr<node::NodeManager>> StartNode(
      const security::TlsFiles& files, bool plain_traffic = false) {
    node::NodeManagerOptions options;
    options.sequencer = address();
    options.plain_traffic = plain_traffic;
    options.tls =
        security::TlsCredentials::Load(files, security::TlsRole::kNode).value();
    options.engines = &engines_;
    options.register_timeout = absl::Seconds(1);
    return node::NodeManager::Start(std::move(options));
  }

  absl::Status Connect(const security::TlsFiles& files) {
    return client::TestClient::Connect(address(), files, absl::Seconds(20))
        .status();
  }

  absl::Status RunTest(const security::TlsFiles& files) {
    const auto client = client::TestClient::Connect(address(), files);
    if (!client.ok()) return client.status();
    TestSequenceResults results;
    return (*client)->RunTests(
        SequenceOf({ClientServerTest("t", 1)}), [](const RunTestsEvent&) {},
        results);
  }

  const security::TestAuthority authority_{"authority"};
  const security::TestAuthority stranger_{"stranger"};
  const security::TlsFiles host_ = authority_.IssueForLocalhost("host");
  const security::TlsFiles alice_ =
      authority_.Issue("alice", {.common_name = "alice"});
  const security::TlsFiles bob_ = authority_.Issue(
      "bob",
      {.common_name = "robert", .alternative_names = {"DNS:bob.example"}});
  hosting::FakeEngineFactory engines_;
  std::unique_ptr<sequencer::SequencerServer> sequencer_;
};

TEST_F(TlsTest, WhoHasACertificateGetsIn) {
  StartSequencer(host_);
  const auto node = StartNode(host_);
  ASSERT_TRUE(node.ok()) << node.status();
  const auto other = StartNode(alice_);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(RunTest(bob_), absl::OkStatus());
  EXPECT_NE(engines_.environment("client/0").tls, nullptr);
  EXPECT_EQ(engines_.environment("client/0").test_nonce.size(), 32);
  EXPECT_EQ(engines_.environment("client/0").test_nonce,
            engines_.environment("server/0").test_nonce);
}

TEST_F(TlsTest, TheTrafficOfTestsMayBePlain) {
  StartSequencer(host_);
  const auto node = StartNode(host_, /*plain_traffic=*/true);
  ASSERT_TRUE(node.ok()) << node.status();
  const auto other = StartNode(alice_, /*plain_traffic=*/true);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(RunTest(bob_), absl::OkStatus());
  EXPECT_EQ(engines_.environment("client/0").tls, nullptr);
  EXPECT_EQ(engines_.environment("server/0").tls, nullptr);
}

TEST_F(TlsTest, WithoutCaNoCertificateIsAskedFor) {
  StartSequencer({.cert = host_.cert, .key = host_.key});
  EXPECT_EQ(Connect({.ca = authority_.ca_file()}), absl::OkStatus());
}

TEST_F(TlsTest, PlainTextIsRefused) {
  StartSequencer(host_);
  EXPECT_THAT(base::Message(Connect({})),
              AllOf(HasSubstr(address()), HasSubstr("requires TLS"),
                    HasSubstr("--tls_ca")));
  EXPECT_THAT(base::Message(StartNode({}).status()), HasSubstr("it wants TLS"));
}

TEST_F(TlsTest, ASequencerWithoutTlsIsRecognised) {
  StartSequencer({});
  EXPECT_THAT(base::Message(Connect(alice_)),
              HasSubstr("does not answer with TLS"));
  EXPECT_THAT(base::Message(StartNode(host_).status()),
              HasSubstr("does not answer with TLS"));
}

TEST_F(TlsTest, ClientsNeedACertificate) {
  StartSequencer(host_);
  EXPECT_THAT(base::Message(Connect({.ca = authority_.ca_file()})),
              AllOf(HasSubstr("asks for a client certificate"),
                    HasSubstr("--tls_cert")));
}

TEST_F(TlsTest, CertificatesOfStrangersAreRefused) {
  StartSequencer(host_);
  security::TlsFiles theirs = stranger_.IssueForLocalhost("mallory");
  // The other side does not trust us, either.
  EXPECT_THAT(base::Message(Connect(theirs)),
              AllOf(HasSubstr("the certificate of " + address()),
                    HasSubstr("--tls_ca=" + theirs.ca)));
  theirs.ca = authority_.ca_file();
  EXPECT_THAT(
      base::Message(Connect(theirs)),
      AllOf(HasSubstr("refuses the certificate of --tls_cert=" + theirs.cert),
            HasSubstr("does not name who signed it")));
  EXPECT_THAT(base::Message(StartNode(theirs).status()),
              HasSubstr("does not name who signed it"));
}

TEST_F(TlsTest, ASequencerMustHaveTheNameThatIsAskedFor) {
  StartSequencer(authority_.Issue(
      "other",
      {.common_name = "other", .alternative_names = {"DNS:other.example"}}));
  EXPECT_THAT(base::Message(Connect(alice_)), HasSubstr("is for another host"));
}

TEST_F(TlsTest, AnotherNameThanTheHostsMayBeAskedFor) {
  // As the processes of a job do: the certificate of all of them has its name.
  const security::TlsFiles job = authority_.Issue(
      "job", {.common_name = "job", .alternative_names = {"DNS:the-job"}});
  StartSequencer(job);
  security::TlsFiles files = job;
  EXPECT_THAT(base::Message(Connect(files)), HasSubstr("is for another host"));
  files.name = "the-job";
  EXPECT_EQ(Connect(files), absl::OkStatus());
  EXPECT_EQ(StartNode(files).status(), absl::OkStatus());
  files.name = "another-job";
  const std::string problem = "does not have the name another-job";
  EXPECT_THAT(base::Message(Connect(files)),
              AllOf(HasSubstr(problem), HasSubstr("--tls_name")));
  EXPECT_THAT(base::Message(StartNode(files).status()), HasSubstr(problem));
}

TEST_F(TlsTest, ExpiredCertificatesAreFoundBeforeAnythingElse) {
  const security::TlsFiles expired = authority_.Issue(
      "old", {.common_name = "old", .validity = -absl::Minutes(1)});
  EXPECT_THAT(
      base::Message(
          client::TestClient::Connect("localhost:1", expired).status()),
      AllOf(HasSubstr("--tls_cert=" + expired.cert), HasSubstr("expired on")));
}

TEST_F(TlsTest, OnlyThoseWhoMayCanSubmit) {
  StartSequencer(host_, {.submit = {"alice"}, .node = {"host"}});
  const auto node = StartNode(host_);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_THAT(base::Message(StartNode(bob_).status()),
              AllOf(HasSubstr("--allow_node"), HasSubstr("bob.example")));
  // Any client with a certificate may read.
  EXPECT_EQ(Connect(bob_), absl::OkStatus());
  const absl::Status refused = RunTest(bob_);
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(base::Message(refused),
              AllOf(HasSubstr("--allow_submit"), HasSubstr("robert")));
  // The test fails because there is only one node, but she was admitted.
  EXPECT_THAT(base::Message(RunTest(alice_)), Not(HasSubstr("--allow_submit")));
  // Nodes in the sequencer's own process are always admitted.
  node::NodeManagerOptions options;
  options.channel = sequencer_->InProcessChannel();
  options.engines = &engines_;
  auto local = node::NodeManager::Start(std::move(options));
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_EQ(RunTest(alice_), absl::OkStatus());
}

TEST_F(TlsTest, RenewedCertificatesAreUsed) {
  StartSequencer(host_);
  security::TlsFiles ours = alice_;
  ours.ca = stranger_.ca_file();
  ASSERT_FALSE(Connect(ours).ok());
  // Another authority signs the new certificate.
  const security::TlsFiles renewed = stranger_.IssueForLocalhost("renewed");
  ASSERT_EQ(std::rename(renewed.key.c_str(), host_.key.c_str()), 0);
  ASSERT_EQ(std::rename(renewed.cert.c_str(), host_.cert.c_str()), 0);
  absl::Status status;
  for (const absl::Time deadline = absl::Now() + kGenerous;
       absl::Now() < deadline;) {
    status = client::TestClient::Connect(address(), ours).status();
    if (status.ok()) break;
  }
  EXPECT_EQ(status, absl::OkStatus());
}

}  // namespace
}  // namespace distbench
