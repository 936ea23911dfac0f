// Finds the pitch of a run: the first of kPitchFiles that exists, in the user's workspace or in the run's work tree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::pipeline {

inline const std::vector<std::string> kPitchFiles = {".signalbox/current-pitch.md", ".workrail/current-pitch.md"};

struct Pitch {
  std::string path, text;  // path: relative to the folder
};
// Nothing: there is none. kLimit, kInvalid: there is one that cannot be used, and why. A link is rejected too: anyone
// who may write there, or who owns the repository, must not choose what a model gets to read.
Result<std::optional<Pitch>> find_pitch(const Files& files, const std::string& folder);
// What is wrong with its text; `path` is for the message.
Status check_pitch(const std::string& path, std::string_view text);

}  // namespace sb::pipeline
