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
inline constexpr long long kAnswerMaxAgeMs = 24LL * 60 * 60 * 1000;  // for one who asks the same question again

// Workflows
inline constexpr std::size_t kWorkflowBytes = 1u << 20;   // one workflow or contract file
inline constexpr std::size_t kContractHelpBytes = 1'024;  // the help text of a contract
inline constexpr std::size_t kWorkflowSteps = 2'000;      // of one workflow, after expansion
inline constexpr int kLoopIterations = 1'000;             // the most that maxIterations may say
inline constexpr int kLoopDepth = 8;                      // loops inside loops
inline constexpr int kCallDepth = 16;                     // workflows that call workflows
inline constexpr std::size_t kPromptChars = 8'192;        // one prompt, in code points
inline constexpr std::size_t kSourceFiles = 2'000;        // of one source folder, then the walk stops and says so
inline constexpr std::size_t kSourceEntries = 20'000;     // files and folders looked at in one source folder
inline constexpr int kSourceDepth = 8;                    // folders below a source folder
inline constexpr std::size_t kSchemaNodes = 10'000;       // values in one JSON Schema

// Sessions
inline constexpr std::size_t kGoalBytes = 64u << 10;
inline constexpr std::size_t kNotesBytes = 64u << 10;     // of one submission
inline constexpr std::size_t kArtifactBytes = 1u << 20;   // one artifact
inline constexpr std::size_t kArtifacts = 64;             // of one submission
inline constexpr std::size_t kContextBytes = 256u << 10;  // of one submission, and of the whole
inline constexpr std::size_t kContextKeys = 4'096;
inline constexpr int kSessionNodes = 1'000'000;
inline constexpr int kNodeAttempts = 10'000;
inline constexpr std::size_t kSkippedStepsPerAdvance =
    5'000;  // steps and iterations passed over in one advance, then loops are left
inline constexpr std::size_t kArtifactKindBytes = 128;
inline constexpr std::size_t kBlockers = 10;   // told of one attempt
inline constexpr int kConsecutiveBlocks = 10;  // then a person is asked
inline constexpr int kConsecutiveBlocksAutonomous = 3;
inline constexpr int kGateRejections = 3;               // then a person is asked
inline constexpr std::size_t kChildren = 1'000;         // of one step
inline constexpr int kChildDepth = 3;                   // sessions started by sessions
inline constexpr std::size_t kRecallBytes = 24u << 10;  // of notes when a session is taken up again
inline constexpr std::size_t kRecapBytes = 2u << 10;    // of notes a session is searched by
inline constexpr std::size_t kAnswerProseBytes = 400;   // of our words around a step's own
inline constexpr std::size_t kTitleChars = 120;
inline constexpr long long kCommandMs = 10LL * 60 * 1000;      // a verification command
inline constexpr std::size_t kCommandOutputBytes = 64u << 10;  // kept of its output
inline constexpr std::size_t kTokenChars = 64;
inline constexpr std::size_t kExportLineBytes = 160u << 20;  // one exported event with its content
inline constexpr std::size_t kImportBytes = 512u << 20;      // an exported session

// Patterns
inline constexpr unsigned kPatternMatchLimit = 1'000'000;
inline constexpr unsigned kPatternDepthLimit = 10'000;

}  // namespace sb::limits
