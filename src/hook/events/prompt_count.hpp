// A number kept for one conversation and one message of its user: how often the agent was sent back, and how many
// planned prompts were answered. The next message starts at zero.
//
// `FOLDER/SESSION.json` in the state home: {"count": N, "prompt": ID of the message}.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

inline constexpr std::string_view kSentBack = "sent-back";
inline constexpr std::string_view kAnswered = "answered";

class PromptCount {
 public:
  PromptCount(Files& files, const HomeDirectories& homes, std::string_view folder, const HookEvent& event);

  int count() const;
  Status set(int count);
  void end();

 private:
  Files& files_;
  std::string folder_;
  std::string path_;
  std::string prompt_;
};

}  // namespace sb::hook
