// A host: a place where a decision can be shown, and how its answers are read.
//
// Each host is one constant of this type, in a file of its own below hosts/; hosts.hpp lists them. Code that treats
// hosts differently asks the row for a fact and never compares it with a particular host.
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

// What one call of a host can carry. 0: the host itself has no limit.
struct HostLimits {
  int questions = 1;
  int options = 0;
  int header = 0;  // code points
};

// Rows are used by address: answers keep a pointer to theirs.
struct NotCopyable {
  constexpr NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

struct Host {
  std::string_view name;  // as --host takes it, and as it is stored
  HostLimits limits = {};

  // What it can ask besides a choice. RenderOptions::is_local adds secrets and forms where `can_be_local` is set.
  bool takes_text = false;
  bool takes_forms = false;
  bool opens_urls = false;
  bool can_be_local = false;

  // What reaches the person. Other fields are noted by `draft` as it emits them.
  bool shows_irreversible_note = false;
  bool shows_bounds = false;  // how many options may be chosen
  bool accepts_none = true;   // choosing nothing can be distinguished from not answering
  // Answers name options by the label as shown, so a hook must compare with that label.
  bool answers_with_label = false;

  // Rejects a prompt for a reason that only this host has. May be null.
  Status (*check)(const Prompt& prompt, const Profile& profile) = nullptr;
  // Fills text or payload and the shape, without markers, and notes in `shown` which fields it emitted.
  void (*draft)(const Prompt& prompt, const Profile& profile, const RenderOptions& options, Rendered& rendered,
                ShownFields& shown);
  // Replaces the text of the question at `index` in text or payload by the marked one in the shape. Null: the host has
  // no place for a marker.
  void (*set_question)(Rendered& rendered, std::size_t index) = nullptr;
  HostAnswer (*read)(const AnswerShape& shape, const Value& given);

  NotCopyable identity = {};
};

// The most options one question may hold there: the smaller of the profile's cap and the host's.
int cap_of(const Host& host, const Profile& profile);

}  // namespace sb::decision
