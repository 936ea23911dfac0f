#include "engine/state/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kSumDigits = 16;

std::string sum_of(std::string_view collection, std::string_view key, std::string_view json) {
  return sha256_hex(fmt::format("{}/{}/{}", collection, key, json)).substr(0, kSumDigits);
}

std::unexpected<Error> damaged(std::string_view collection, std::string_view key) {
  return fail(ErrorCode::kCorrupt, fmt::format("the stored row {} of {} is damaged", key, collection),
              std::string(store::kRepairRemedy));
}

template <class T, class Read>
Result<std::optional<T>> read_row(store::Snapshot& snapshot, std::string_view collection, const std::string& key,
                                  const Read& read) {
  const auto row = SB_TRY(snapshot.get(collection, key));
  if (!row) return std::nullopt;
  Result<T> parsed = read(SB_TRY(open_row(collection, *row)));
  if (!parsed) return damaged(collection, key);
  return std::move(*parsed);
}

template <class T>
Status write_row(store::Transaction& transaction, std::string_view collection, const std::string& key, const T& what,
                 std::optional<std::string_view> sort = std::nullopt) {
  return transaction.put(collection, key, seal_row(collection, key, to_value(what)), sort);
}

}  // namespace

std::string node_key(std::string_view session, NodeNo node) {
  return fmt::format("{}/{:08}", session, node);
}

std::string attempt_key(std::string_view session, NodeNo node, int attempt) {
  return fmt::format("{}/{:08}/{:05}", session, node, attempt);
}

std::string seal_row(std::string_view collection, std::string_view key, const Value& value) {
  const std::string json = to_json(value);
  return fmt::format("{} {}", sum_of(collection, key, json), json);
}

Result<Value> open_row(std::string_view collection, const store::Row& row) {
  const std::string_view text = row.value;
  if (text.size() <= kSumDigits || text[kSumDigits] != ' ') return damaged(collection, row.key);
  const std::string_view json = text.substr(kSumDigits + 1);
  if (text.substr(0, kSumDigits) != sum_of(collection, row.key, json)) return damaged(collection, row.key);
  auto value = parse_stored(json);
  if (!value) return damaged(collection, row.key);
  return value;
}

Result<std::optional<Summary>> read_summary(store::Snapshot& snapshot, std::string_view session) {
  return read_row<Summary>(snapshot, kSessions, std::string(session), summary_from);
}

Result<std::optional<Node>> read_node(store::Snapshot& snapshot, std::string_view session, NodeNo node) {
  return read_row<Node>(snapshot, kNodes, node_key(session, node), node_from);
}

Result<std::optional<Attempt>> read_attempt(store::Snapshot& snapshot, std::string_view session, NodeNo node,
                                            int attempt) {
  return read_row<Attempt>(snapshot, kAttempts, attempt_key(session, node, attempt), attempt_from);
}

std::string session_sort(const Summary& summary) {
  const std::string_view of_class = !summary.is_in_progress()        ? kEndedClass
                                    : summary.parent_session.empty() ? kOpenClass
                                                                     : kChildClass;
  return fmt::format("{}{:015}/{}", of_class, std::max<TimestampMs>(summary.updated_at, 0), summary.id);
}

Status write_summary(store::Transaction& transaction, const Summary& summary) {
  return write_row(transaction, kSessions, summary.id, summary, session_sort(summary));
}

Status write_node(store::Transaction& transaction, std::string_view session, const Node& node) {
  return write_row(transaction, kNodes, node_key(session, node.number), node);
}

Status write_attempt(store::Transaction& transaction, std::string_view session, const Attempt& attempt) {
  return write_row(transaction, kAttempts, attempt_key(session, attempt.node, attempt.number), attempt);
}

Result<std::string> put_json_blob(store::Transaction& transaction, const Value& value) {
  const Digest hash = SB_TRY(transaction.put_blob(to_canonical_json(value)));
  return to_hex(as_bytes(hash));
}

Result<Value> read_json_blob(store::Snapshot& snapshot, std::string_view hex) {
  const auto gone = [&](std::string_view what) {
    return fail(ErrorCode::kCorrupt, fmt::format("the stored content {} {}", hex, what),
                std::string(store::kRepairRemedy));
  };
  const auto bytes = from_hex(hex);
  Digest hash{};
  if (!bytes || bytes->size() != hash.size()) return gone("has an invalid hash");
  std::ranges::copy(*bytes, hash.begin());
  const auto blob = SB_TRY(snapshot.blob(hash));
  if (!blob) return gone("is missing");
  auto value = parse_stored(*blob);
  if (!value) return gone("is damaged");
  return value;
}

}  // namespace sb::engine
