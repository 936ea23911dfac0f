// The limits shared by the whole program. docs/limits.md lists them; limits_test.cpp compares the two.
#pragma once

#include <cstddef>

namespace sb::limits {

// Documents written by people
inline constexpr std::size_t kDocumentBytes = 16u << 20;
inline constexpr int kDocumentDepth = 64;
inline constexpr std::size_t kDocumentNodes = 1'000'000;
inline constexpr std::size_t kFaults = 50;  // faults reported per document; more would only hide them

// Declarations
inline constexpr std::size_t kOptions = 1'000;        // options per decision, step or chain
inline constexpr std::size_t kFlowSteps = 10'000;     // steps per flow
inline constexpr std::size_t kIdBytes = 64;           // ids of decisions, flows, chains, options
inline constexpr std::size_t kTextBytes = 16u << 10;  // one text field: a label, a description, a section

// Input and host events
inline constexpr std::size_t kInputBytes = 1u << 20;      // one answer
inline constexpr std::size_t kStateBlobBytes = 4u << 20;  // a flow's or chain's state
inline constexpr std::size_t kHookEventBytes = 16u << 20;
inline constexpr int kLateAnswers = 20;                 // kept of those that came after a decision was closed
inline constexpr int kHookPrompts = 64;                 // open prompts a hook searches, newest first
inline constexpr std::size_t kHookLogBytes = 1u << 20;  // size of hook-errors.log; then the older half is dropped
inline constexpr std::size_t kLintBytes = 64u << 20;

// Store
inline constexpr std::size_t kStoreNameBytes = 512;         // a stream, type, collection, key, sort key, queue, owner
inline constexpr std::size_t kStoreValueBytes = 64u << 20;  // one payload, projection value or blob
inline constexpr int kStorePageRows = 10'000;               // rows or events per read
inline constexpr std::size_t kStoreAppendEvents = 10'000;   // events per append

// Answers
inline constexpr long long kAnswerMaxAgeMs = 24LL * 60 * 60 * 1000;  // of an answer that is reused

// Workflows
inline constexpr std::size_t kWorkflowBytes = 1u << 20;   // one workflow or contract file
inline constexpr std::size_t kContractHelpBytes = 1'024;  // the help text of a contract
inline constexpr std::size_t kWorkflowSteps = 2'000;      // per workflow, after expansion
inline constexpr int kLoopIterations = 1'000;             // maximum of maxIterations
inline constexpr int kLoopDepth = 8;                      // nested loops
inline constexpr int kCallDepth = 16;                     // nested workflow calls
inline constexpr std::size_t kPromptChars = 8'192;        // one prompt, in code points
inline constexpr std::size_t kSourceFiles = 2'000;        // per source folder; then the scan stops with a warning
inline constexpr std::size_t kSourceEntries = 20'000;     // files and folders scanned per source folder
inline constexpr int kSourceDepth = 8;                    // folders below a source folder
inline constexpr std::size_t kSchemaNodes = 10'000;       // values in one JSON Schema

// Sessions
inline constexpr std::size_t kGoalBytes = 64u << 10;
inline constexpr std::size_t kNotesBytes = 64u << 10;     // per submission
inline constexpr std::size_t kArtifactBytes = 1u << 20;   // one artifact
inline constexpr std::size_t kArtifacts = 64;             // per submission
inline constexpr std::size_t kContextBytes = 256u << 10;  // per submission, and in total
inline constexpr std::size_t kContextKeys = 4'096;
inline constexpr int kSessionNodes = 1'000'000;
inline constexpr int kNodeAttempts = 10'000;
inline constexpr std::size_t kSkippedStepsPerAdvance =
    5'000;  // steps and iterations skipped per advance; then loops are exited
inline constexpr std::size_t kArtifactKindBytes = 128;
inline constexpr std::size_t kBlockers = 10;   // reported per attempt
inline constexpr int kConsecutiveBlocks = 10;  // then a person is asked
inline constexpr int kConsecutiveBlocksAutonomous = 3;
inline constexpr int kGateRejections = 3;                     // then a person is asked
inline constexpr std::size_t kChildren = 1'000;               // per step
inline constexpr int kChildDepth = 3;                         // nesting of sessions started by sessions
inline constexpr std::size_t kRecallBytes = 24u << 10;        // notes shown when a session is resumed
inline constexpr std::size_t kShownContextBytes = 24u << 10;  // context values shown when a session is resumed
inline constexpr std::size_t kFilledValueBytes = 16u << 10;   // of one value filled into a prompt
inline constexpr std::size_t kFilledBytes = 48u << 10;        // of all values filled into a step's prompt
inline constexpr std::size_t kResultsBytes = 24u << 10;       // results of child sessions shown to their parent
inline constexpr std::size_t kIterationsBytes = 6u << 10;     // earlier iterations shown at the start of a later one
inline constexpr std::size_t kRecapBytes = 2u << 10;          // notes indexed for searching a session
inline constexpr std::size_t kAnswerProseBytes = 400;         // our text around a step's own text
inline constexpr std::size_t kTitleChars = 120;
inline constexpr long long kCommandMs = 10LL * 60 * 1000;      // a verification command
inline constexpr std::size_t kCommandOutputBytes = 64u << 10;  // output kept of it
inline constexpr std::size_t kTokenChars = 64;
inline constexpr std::size_t kExportLineBytes = 160u << 20;  // one exported event with its content
inline constexpr std::size_t kImportBytes = 512u << 20;      // an exported session

// Patterns
inline constexpr unsigned kPatternMatchLimit = 1'000'000;
inline constexpr unsigned kPatternDepthLimit = 10'000;

}  // namespace sb::limits
