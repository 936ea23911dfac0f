// The limits of `pipeline`. docs/limits.md lists them; each is tested at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::pipeline::limits {

inline constexpr std::size_t kTicketBytes = 1u << 20;         // a ticket with its comments
inline constexpr std::size_t kPitchBytes = 256u << 10;        // a pitch
inline constexpr std::size_t kPartialNotes = 50;              // characters of notes a partial phase must exceed
inline constexpr std::size_t kDiffBytes = 4u << 20;           // a diff that is scanned and shown
inline constexpr std::size_t kCheckOutputBytes = 64u << 10;   // of a check, both ends kept
inline constexpr std::size_t kJudgeScripts = 64;              // scripts followed from the project's checks
inline constexpr std::size_t kJudgeScriptBytes = 256u << 10;  // of one of them
inline constexpr std::size_t kJudgeNames = 2'000;             // paths looked for in one of them
inline constexpr std::size_t kJudgeHunkBytes =
    12u << 10;                        // of a change to files that judge: longer is not merged from here
inline constexpr int kFixRounds = 2;  // default of the settings
inline constexpr std::int64_t kRunCutoffMs = 9'000'000;      // agents' work in a run before a person is asked
inline constexpr std::int64_t kRequestChecksMs = 3'600'000;  // wait for a forge's checks
inline constexpr std::size_t kSettingsItems = 100;           // checks, paths or keys in one list of the settings
inline constexpr int kUpdates = 10;                          // to a base that advances, before a person is asked
inline constexpr int kMostFixRounds = 10;                    // maximum in the settings

}  // namespace sb::pipeline::limits
