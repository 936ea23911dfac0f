// What a host was asked to show: recorded when rendered, so that a hook can compare it with what the host is about to
// show and close exactly that.
//
// Stream `prompt/NONCE`, canonical JSON:
//   planned  {v: 1, nonce, decision, fingerprint, render_hash, host, part, page, pages, is_many, question, header,
//             options: [{label, id}…], elsewhere: [labels…], ordinal}
//   closed   {options, principal, channel}
// The nonce is the first 16 characters of the base32 SHA-256 of "sb-prompt-1\n", fingerprint, "\n", render hash, "\n"
// and the ordinal in decimal, where the ordinal counts the prompts planned in this store: equal calls on equal stores
// plan equal bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inbox/question/question.hpp"
#include "store/store.hpp"

namespace sb::inbox {

inline constexpr std::string_view kPromptStreams = "prompt/";

struct PlannedPrompt {
  std::string nonce;     // set by plan_prompt
  std::string decision;  // the asked decision's id
  std::string fingerprint;
  std::string render_hash;  // hex SHA-256 of what the host is given, with kNoncePlaceholder in place of the nonce
  std::string host;         // its name: see decision/render/hosts.hpp
  std::string part;         // the step or chain option asked about; empty for a single decision
  int page = 1;
  int pages = 1;
  bool is_many = false;
  std::string question;  // the text the host shows, marker included
  std::string header;
  std::vector<Choice> options;         // as shown: the host's label, our id; including the pager's own
  std::vector<std::string> elsewhere;  // labels of declared options on other pages
  std::int64_t ordinal = 0;            // set by plan_prompt
  TimestampMs planned_at = 0;          // set by plan_prompt
  bool is_open = true;
};

// The nonce depends on the render hash, so the hashed text contains this placeholder.
inline constexpr std::string_view kNoncePlaceholder = "0000000000000000";

std::string prompt_nonce(std::string_view fingerprint, std::string_view render_hash, std::int64_t ordinal);

Value to_value(const PlannedPrompt& prompt);
Result<PlannedPrompt> prompt_from(const Value& value);

}  // namespace sb::inbox
