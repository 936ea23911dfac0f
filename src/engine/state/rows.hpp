// State rows of sessions in the store; each value is JSON behind a checksum, because SQLite does not detect a flipped
// byte.
//
// Value: 16 hex digits (the first 8 bytes of SHA-256 over collection, "/", key, "/", JSON), a space, then the JSON. A
// mismatch is kCorrupt and names the row; `store repair` writes it again from the events.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

inline constexpr std::string_view kSessions = "sessions";
inline constexpr std::string_view kNodes = "session-nodes";
inline constexpr std::string_view kAttempts = "session-attempts";
inline constexpr std::string_view kKeys = "session-keys";

std::string node_key(std::string_view session, NodeNo node);                  // s-…/00000001
std::string attempt_key(std::string_view session, NodeNo node, int attempt);  // s-…/00000001/00001

std::string seal_row(std::string_view collection, std::string_view key, const Value& value);
Result<Value> open_row(std::string_view collection, const store::Row& row);

Result<std::optional<Summary>> read_summary(store::Snapshot& snapshot, std::string_view session);
Result<std::optional<Node>> read_node(store::Snapshot& snapshot, std::string_view session, NodeNo node);
Result<std::optional<Attempt>> read_attempt(store::Snapshot& snapshot, std::string_view session, NodeNo node,
                                            int attempt);
// A session's row is sorted by class, time and id: CLASS TIME/ID. Open ones are those that are no other session's
// child.
inline constexpr std::string_view kOpenClass = "open/", kChildClass = "child/", kEndedClass = "ended/";
std::string session_sort(const Summary& summary);
Status write_summary(store::Transaction& transaction, const Summary& summary);
Status write_node(store::Transaction& transaction, std::string_view session, const Node& node);
Status write_attempt(store::Transaction& transaction, std::string_view session, const Attempt& attempt);

// Blobs hold canonical JSON (contexts, artifacts, pinned definitions).
Result<std::string> put_json_blob(store::Transaction& transaction, const Value& value);  // hex hash
Result<Value> read_json_blob(store::Snapshot& snapshot, std::string_view hex);           // kCorrupt if missing

}  // namespace sb::engine
