// The limits of `agent`. docs/limits.md lists them; each is tested at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::agent::limits {

inline constexpr std::size_t kIdentityBytes = 8u << 10;    // the identity text in a prompt
inline constexpr std::size_t kTier0Bytes = 32u << 10;      // project identity in a prompt
inline constexpr std::size_t kPriorContextBytes = 8'192;   // results of earlier phases in a prompt
inline constexpr std::size_t kMemoryBytes = 8u << 10;      // what was learned before, in a prompt
inline constexpr std::size_t kThisTurnBytes = 2u << 20;    // task and raw inputs in a prompt
inline constexpr std::size_t kRulesBytes = 32u << 10;      // rule files and soul in a prompt
inline constexpr std::size_t kRuleFilesEach = 20;          // files matched by one glob of rules or Tier 0
inline constexpr std::size_t kRuleFileBytes = 256u << 10;  // a rule or Tier 0 file; a larger one is only named
inline constexpr std::size_t kReadBytes = 256u << 10;      // Read without offset and limit
inline constexpr std::size_t kReadableBytes = 64u << 20;   // a file read in parts, or edited
inline constexpr std::size_t kGlobResults = 100;
inline constexpr std::size_t kGrepFileBytes = 10u << 20;  // a larger file is not searched
inline constexpr std::size_t kWalkEntries = 200'000;      // files and folders of one search
inline constexpr int kWalkDepth = 64;                     // nested folders
inline constexpr std::size_t kGrepLines = 250;
inline constexpr std::int64_t kBashMs = 300'000;
inline constexpr std::size_t kToolResultBytes = 64u << 10;   // of one call, both ends kept
inline constexpr std::size_t kReplyBytes = 4u << 20;         // of one reply of a model
inline constexpr std::size_t kReplyStreamBytes = 64u << 20;  // of the events it comes in
inline constexpr std::size_t kReplyDepth = 48;               // nesting of a model's reply, tool inputs included
inline constexpr std::size_t kScriptBytes = 16u << 20;       // the file of a scripted model
inline constexpr std::size_t kReadsAtOnce = 8;               // read-only calls of one turn in parallel
inline constexpr int kChildrenAtOnce = 10;                   // of one spawn_agent call
inline constexpr std::size_t kModels = 100;                  // in the settings

}  // namespace sb::agent::limits
