// A value kept for one conversation until its user's next message, such as how often the agent was sent back.
//
// `FOLDER/SESSION.json` in the state home: {"kept": VALUE, "prompt": ID of the message}.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

inline constexpr std::string_view kSentBack = "sent-back";  // how many times in a row
inline constexpr std::string_view kAnswered = "answered";   // the profile of what the person answered last
inline constexpr std::string_view kShown = "shown";         // the planned prompts of the last question, by their nonces

class TurnNote {
 public:
  TurnNote(Files& files, const HomeDirectories& homes, std::string_view folder, const HookEvent& event);

  Value kept() const;         // null: nothing was kept since the last message
  Value kept_before() const;  // what was kept before the last message; null: nothing, or something since
  Status keep(Value value);
  void drop();

 private:
  Value note() const;

  Files& files_;
  std::string folder_;
  std::string path_;
  std::string prompt_;
};

}  // namespace sb::hook
