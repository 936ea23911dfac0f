// A host: an interface that can show a decision, and how its answers are read.
//
// Each host is one constant of this type, in its own file below hosts/; hosts.hpp lists them. Code that treats hosts
// differently uses a property of the row and never compares it with a particular host.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"
#include "decision/shown_fields.hpp"

namespace sb {
class Value;
}

namespace sb::decision {

struct AnswerShape;
struct HostAnswer;
struct Rendered;
struct RenderOptions;

// Limits of one call of a host. 0: no limit.
struct HostLimits {
  int questions = 1;
  int options = 0;
  int header = 0;  // code points
};

// Rows are used by address: answers keep a pointer to their host.
struct NotCopyable {
  constexpr NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

struct Host {
  std::string_view name;  // for --host, and as stored
  HostLimits limits = {};

  // What it can ask besides a choice. RenderOptions::is_local adds secrets and forms if `can_be_local` is set.
  bool takes_text = false;
  bool takes_forms = false;
  bool opens_urls = false;
  bool can_be_local = false;

  // What reaches the person. `draft` records other fields as it emits them.
  bool shows_irreversible_note = false;
  bool shows_bounds = false;  // how many options may be chosen
  bool accepts_none = true;   // choosing nothing can be distinguished from not answering
  // Answers contain the label as shown, so a hook must compare with that label.
  bool answers_with_label = false;

  // Rejects a prompt for a reason that only this host has. May be null.
  Status (*check)(const Prompt& prompt, const Profile& profile) = nullptr;
  // Fills text or payload and the shape, without markers, and records in `shown` which fields it emitted.
  void (*draft)(const Prompt& prompt, const Profile& profile, const RenderOptions& options, Rendered& rendered,
                ShownFields& shown);
  // Replaces the text of the question at `index` in text or payload with the marked one from the shape. Null: the host
  // cannot show a marker.
  void (*set_question)(Rendered& rendered, std::size_t index) = nullptr;
  HostAnswer (*read)(const AnswerShape& shape, const Value& given);

  NotCopyable identity = {};
};

// The largest number of options in one question there: the smaller of the profile's cap and the host's.
int cap_of(const Host& host, const Profile& profile);

}  // namespace sb::decision
