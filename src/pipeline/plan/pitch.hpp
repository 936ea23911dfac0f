// The pitch a run works from: the first of kPitchFiles that is there, in the user's workspace or in the run's work
// tree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::pipeline {

inline const std::vector<std::string> kPitchFiles = {".signalbox/current-pitch.md", ".workrail/current-pitch.md"};

struct Pitch {
  std::string path, text;  // path: below the folder
};
// Nothing: there is none. kLimit, kInvalid: there is one that no agent can be given, and what is wrong with it. A link
// is refused too: whoever may write there, or whose repository it is, must not choose what is read to a model.
Result<std::optional<Pitch>> find_pitch(const Files& files, const std::string& folder);
// What is wrong with its text; `path` is for the message.
Status check_pitch(const std::string& path, std::string_view text);

}  // namespace sb::pipeline
