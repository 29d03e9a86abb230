// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Manual pages, in the language of troff, from the table of flags.

#ifndef DISTBENCH_FLAGS_MAN_PAGE_H_
#define DISTBENCH_FLAGS_MAN_PAGE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distbench::flags {

struct ManSection {
  std::string title;

  // Paragraphs with blank lines between them. A paragraph with an indented line
  // keeps its line breaks and its spaces; others are filled.
  std::string text;
};

struct ManPageOptions {
  std::string program;  // "distbench"
  std::string version;  // "1.2.3"

  // After the flags.
  std::vector<ManSection> sections;
};

// The name of a command's page: "distbench-runs-get"; that of the program
// itself is its own.
std::string ManPageName(const CLI::App& command, const std::string& program);

// The page of section 1 of a command that has parsed nothing. Paragraphs of its
// footer that begin with "Example" become the examples, others belong to the
// description.
std::string ManPage(const CLI::App& command, const ManPageOptions& options);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_MAN_PAGE_H_
