// A ticket: a request in its author's words. All of it is data for agents; none of it sets policy.
//
// Read from a Markdown file with optional front matter (title, labels, acceptance, links, depends_on, id, url), from
// JSON or YAML with the same members, or fetched by a forge. Pure except for reading the file.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::pipeline {

struct Ticket {
  std::string id = {}, url = {};  // of a forge: `github:owner/name#12`
  std::string title = {}, body = {};
  std::vector<std::string> labels = {}, acceptance = {}, links = {}, depends_on = {};
  struct Comment {
    std::string author, text;
    bool operator==(const Comment&) const = default;
  };
  std::vector<Comment> comments = {};
  bool is_closed = false;  // when it was fetched; not part of its value

  bool operator==(const Ticket&) const = default;
  std::string hash() const;        // over the request: without labels and comments
  std::string plain_text() const;  // every part, for a person
  std::string as_text() const;     // the same for a prompt, as marked data
  Value to_value() const;
  static Result<Ticket> from(const Value& value);
};

// kInvalid for an empty ticket or one that is not text, kLimit for one over limits::kTicketBytes.
Result<Ticket> read_ticket(std::string_view bytes, const std::string& name);

}  // namespace sb::pipeline
