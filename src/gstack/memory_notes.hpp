// gstack's memory: what the person's past answers suggest, for the agent that asks a question of the same kind again.
//
// free-text-memory.json in the state root holds the notes, each with the kinds of question (signal keys) it is about.
// gstack writes it after the person agreed to each note; here it is only read. Like gstack's hook, the first question
// of a session leaves a copy in the session's folder (memory-cache.json); unlike there, the copy is never read, so that
// a note counts from the moment it is stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/seams.hpp"
#include "gstack/preference_files.hpp"

namespace sb::gstack {

// For each question id in turn the three newest notes about it, without repetition. Notes that read like an instruction
// to a model are left out.
Result<std::vector<std::string>> memory_notes(const PreferencePaths& place, std::string_view session_id,
                                              const std::vector<std::string>& question_ids, const Seams& seams);

}  // namespace sb::gstack
