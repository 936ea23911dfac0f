#include "mcp/tools/resources.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "engine/answer/session_view.hpp"
#include "engine/recall/session_list.hpp"
#include "engine/state/rows.hpp"
#include "mcp/limits.hpp"
#include "store/checks.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kSessionPrefix = "signalbox://session/";
constexpr std::size_t kShownNodes = 200;

Value contents(const std::string& uri, const Value& value) {
  return Value::object(
      {{"contents",
        Value::Array{Value::object({{"uri", uri}, {"mimeType", "application/json"}, {"text", to_json(value)}})}}});
}

RpcError failed(const Error& error) {
  return {net::rpc::kInternalError, error.to_string()};
}

Result<Value> session_view(engine::Sessions& sessions, const std::string& id) {
  const engine::Summary summary = SB_TRY(sessions.summary(id));
  Value value = engine::session_value(summary);
  if (!summary.recap.empty()) value.set("recap", summary.recap);
  const auto nodes = SB_TRY(sessions.nodes(id));
  Value steps = Value::array();
  const std::size_t from = nodes.size() > kShownNodes ? nodes.size() - kShownNodes : 0;
  for (std::size_t i = from; i < nodes.size(); ++i) {
    if (nodes[i].kind == engine::NodeKind::kEnd) continue;
    steps.push_back(
        Value::object({{"node", nodes[i].number}, {"stepId", nodes[i].position.step}, {"title", nodes[i].title}}));
  }
  value.set("steps", std::move(steps));
  if (from > 0) value.set("earlierSteps", from);
  return value;
}

}  // namespace

Value listed_resources() {
  return Value::Array{Value::object({{"uri", kTagsUri},
                                     {"name", "tags"},
                                     {"title", "Workflow tags"},
                                     {"description", "The tags that list_workflows accepts, and when to use each"},
                                     {"mimeType", "application/json"}})};
}

Value listed_templates() {
  return Value::Array{Value::object({{"uriTemplate", kSessionTemplate},
                                     {"name", "session"},
                                     {"title", "A session"},
                                     {"description", "Its status, the last submission, and its steps"},
                                     {"mimeType", "application/json"}})};
}

std::string session_of_uri(std::string_view uri) {
  if (!uri.starts_with(kSessionPrefix)) return {};
  return std::string(uri.substr(kSessionPrefix.size()));
}

std::optional<HandlerResult> resource_contents(WorkerContext& worker, const std::string& uri) {
  if (uri == kTagsUri) {
    const auto catalog = worker.catalog_here();
    if (!catalog) return failed(catalog.error());
    return contents(uri, Value::object({{"tags", catalog->tags()}}));
  }
  const std::string name = session_of_uri(uri);
  if (name.empty()) return {};
  const auto home = worker.home();
  if (!home) return failed(home.error());
  const auto id = (*home)->sessions().resolve(name);
  if (!id) return {};
  const auto seen = session_view((*home)->sessions(), *id);
  if (!seen) return failed(seen.error());
  return contents(uri, *seen);
}

std::string session_fingerprint(WorkerContext& worker, const std::string& session) {
  const auto home = worker.home();
  const auto id = home ? (*home)->sessions().resolve(session) : std::unexpected(home.error());
  const auto summary = id ? (*home)->sessions().summary(*id) : std::unexpected(id.error());
  return summary ? fmt::format("{} {} {}", summary->id, summary->events, summary->updated_at) : "";
}

std::string workflows_fingerprint(WorkerContext& worker) {
  const auto catalog = worker.catalog_here();
  if (!catalog) return {};
  std::string all;
  for (const workflow::CatalogEntry* entry : catalog->list())
    all += fmt::format("{} {}\n", entry->id, entry->origin.digest);
  return sha256_hex(all);
}

Completion session_ids(WorkerContext& worker, std::string_view begun) {
  const Completion none({});
  const auto home = worker.home();
  if (!home || (!begun.empty() && !store::check_name("session", begun))) return none;
  const auto limit = static_cast<int>(limits::kCompletions);
  auto found = (*home)->home().store().read([&](store::Snapshot& snapshot) -> Result<Completion> {
    std::vector<std::string> ids;
    const store::Listing listing{.prefix = std::string(begun), .limit = limit};
    const auto rows = SB_TRY(begun.empty() ? engine::rows_by_time(snapshot, true, "", limit)
                                           : snapshot.list(engine::kSessions, listing));
    for (const store::Row& row : rows) ids.push_back(row.key);
    return Completion(std::move(ids), static_cast<std::size_t>(SB_TRY(snapshot.count(engine::kSessions, listing))));
  });
  return found ? std::move(*found) : none;
}

}  // namespace sb::mcp
