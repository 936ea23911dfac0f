// What clients may read besides calling tools: the tags of workflows, and the status of a session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

inline constexpr std::string_view kTagsUri = "workrail://tags";
inline constexpr std::string_view kSessionTemplate = "signalbox://session/{id}";

Value listed_resources();
Value listed_templates();

// The session's id (or a prefix of it) that such a uri names; empty for every other uri.
std::string session_of_uri(std::string_view uri);
// Nothing if the uri names nothing.
std::optional<HandlerResult> resource_contents(WorkerContext& worker, const std::string& uri);

// Each changes when what is shown changes. Empty for one that cannot be read.
std::string session_fingerprint(WorkerContext& worker, const std::string& session);
std::string workflows_fingerprint(WorkerContext& worker);

// Newest first.
Completion session_ids(WorkerContext& worker, std::string_view begun);

}  // namespace sb::mcp
