// Every limit of the program, in one place. docs/limits.md lists them; limits_test.cpp holds the two together.
#pragma once

#include <cstddef>

namespace sb::limits {

// Documents people write
inline constexpr std::size_t kDocumentBytes = 16u << 20;
inline constexpr int kDocumentDepth = 64;
inline constexpr std::size_t kDocumentNodes = 1'000'000;
inline constexpr std::size_t kFaults = 50;  // told of one document; the rest would only bury them

// Declarations
inline constexpr std::size_t kOptions = 1'000;        // options of one decision, step or chain
inline constexpr std::size_t kFlowSteps = 10'000;     // steps of one flow
inline constexpr std::size_t kIdBytes = 64;           // ids of decisions, flows, chains, options
inline constexpr std::size_t kTextBytes = 16u << 10;  // one text field: a label, a description, a section

// Input and host events
inline constexpr std::size_t kInputBytes = 1u << 20;      // one answer
inline constexpr std::size_t kStateBlobBytes = 4u << 20;  // a flow's or chain's state
inline constexpr std::size_t kHookEventBytes = 16u << 20;
inline constexpr int kHookPrompts = 64;                 // open prompts a hook looks through, newest first
inline constexpr std::size_t kHookLogBytes = 1u << 20;  // of hook-errors.log, then the older half is dropped
inline constexpr std::size_t kLintBytes = 64u << 20;

// Store
inline constexpr std::size_t kStoreNameBytes = 512;         // a stream, type, collection, key, sort key, queue, owner
inline constexpr std::size_t kStoreValueBytes = 64u << 20;  // one payload, projection value or blob
inline constexpr int kStorePageRows = 10'000;               // rows or events of one read
inline constexpr std::size_t kStoreAppendEvents = 10'000;   // events of one append

// Answers
inline constexpr long long kAnswerFreshMs = 24LL * 60 * 60 * 1000;  // for one who asks the same question again

// Patterns
inline constexpr unsigned kPatternMatchLimit = 1'000'000;
inline constexpr unsigned kPatternDepthLimit = 10'000;

}  // namespace sb::limits
