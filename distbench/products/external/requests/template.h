// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Templates: texts in which variables stand for values that differ from request
// to request. A variable is written in two pairs of braces:
//
//   {{counter}}           0, 1, 2, ...
//   {{counter:START:STEP}}
//   {{random:MIN:MAX}}    an integer, each one equally likely
//   {{random_hex:N}}      N hexadecimal digits
//   {{uuid}}              a random UUID (RFC 9562, version 4)
//   {{choice:a|b|c}}      one of these, each one equally likely
//   {{row:COLUMN}}        a column of the request's row
//   {{instance}}          the name of the instance that sends the request
//   {{filler}}            as many letters as the request asks for
//
// "{{{{" stands for "{{". Everything else stands for itself.
//
// Values depend on nothing but the request (TemplateRequest), so a test sends
// the same requests each time it is run. Two variables of one template have
// independent random values.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_TEMPLATE_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_TEMPLATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::external {

// A request that a template is filled in for.
struct TemplateRequest {
  uint64_t seed = 0;   // of all requests of the instance's RPC
  int64_t number = 0;  // of the request, from 0
  absl::string_view instance = {};
  const std::vector<std::string>* row = nullptr;  // null: there are no rows
  int64_t filler_bytes = 0;
};

// How values in quotes are escaped. Values outside of quotes are taken as they
// are, and so are all values in plain text.
enum class TemplateSyntax { kPlain, kJson, kTextFormat };

// Immutable.
class Template {
 public:
  // `columns` are the names of the rows' columns; empty if there are no rows.
  // The error names the place of what is wrong.
  static absl::StatusOr<Template> Parse(
      absl::string_view text, TemplateSyntax syntax,
      const std::vector<std::string>& columns);

  // Variables are counted from 0, in the order of the text. A text without any
  // is the same for all requests.
  int variable_count() const { return static_cast<int>(variables_.size()); }

  // Whether texts depend on the request's row.
  bool uses_rows() const;

  // Whether the text has a {{filler}}, of which there is one at most.
  bool has_filler() const;

  // Returns what AppendTo() appends at most, but for a filler. `rows` begin
  // with the names of the columns.
  int64_t MostBytes(const std::vector<std::vector<std::string>>& rows) const;

  // Appends the text for a request. Its row must have all columns.
  void AppendTo(const TemplateRequest& request, std::string& text) const;

  // Appends the value of a variable, which is not escaped.
  void AppendValueOf(int variable, const TemplateRequest& request,
                     std::string& text) const;

  // Returns the text with these values of all variables, which are not escaped.
  std::string With(const std::vector<std::string>& values) const;

 private:
  enum class Kind {
    kCounter,
    kRandom,
    kHex,
    kUuid,
    kChoice,
    kRow,
    kInstance,
    kFiller
  };

  struct Variable {
    Kind kind = Kind::kCounter;
    bool is_quoted = false;
    int64_t first = 0;   // START, MIN, N, or the column's index
    int64_t second = 0;  // STEP or MAX
    std::vector<std::string> choices = {};
  };

  class Parser;

  static size_t MostBytes(const Variable& variable,
                          const std::vector<std::vector<std::string>>& rows);

  TemplateSyntax syntax_ = TemplateSyntax::kPlain;
  std::vector<Variable> variables_;
  // The text before, between and behind the variables.
  std::vector<std::string> literals_ = {""};
};

// Returns whether the text is a template; see Template::Parse().
absl::Status CheckTemplate(absl::string_view text,
                           const std::vector<std::string>& columns = {});

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_TEMPLATE_H_
