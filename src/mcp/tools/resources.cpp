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

Value children_of(const engine::Node& node) {
  Value all = Value::array();
  for (const engine::Child& child : node.children) {
    Value one = Value::object({{"id", child.id}, {"sessionId", child.session}});
    if (!child.label.empty()) one.set("label", child.label);
    if (!child.outcome.empty()) one.set("outcome", child.outcome);
    all.push_back(std::move(one));
  }
  return all;
}

// What its branch has delivered: the last notes, and the newest artifact of each kind.
Status add_delivered(engine::Sessions& sessions, const std::string& id, const engine::Node& tip, Value& view) {
  if (tip.parent != 0) {
    if (const auto last = SB_TRY(sessions.attempt(id, tip.parent, tip.parent_attempt))) {
      view.set("lastNotes", SB_TRY(sessions.output(id, *last)).notes);
    }
  }
  Value artifacts = Value::array();
  for (const auto& [kind, hash] : tip.artifacts) artifacts.push_back(SB_TRY(sessions.artifact(hash)));
  view.set("artifacts", std::move(artifacts));
  return {};
}

Result<Value> session_view(engine::Sessions& sessions, const std::string& id) {
  const engine::Summary summary = SB_TRY(sessions.summary(id));
  SB_TRY(sessions.check_driver(summary));
  Value value = engine::session_value(summary);
  if (!summary.recap.empty()) value.set("recap", summary.recap);
  const auto nodes = SB_TRY(sessions.nodes(id));
  Value steps = Value::array();
  const std::size_t from = nodes.size() > kShownNodes ? nodes.size() - kShownNodes : 0;
  for (std::size_t i = from; i < nodes.size(); ++i) {
    if (nodes[i].kind == engine::NodeKind::kEnd) continue;
    Value step =
        Value::object({{"node", nodes[i].number}, {"stepId", nodes[i].position.step}, {"title", nodes[i].title}});
    if (!nodes[i].children.empty()) step.set("children", children_of(nodes[i]));
    steps.push_back(std::move(step));
  }
  value.set("steps", std::move(steps));
  const engine::Node tip = SB_TRY(sessions.node(id, summary.tip));
  value.set("context", SB_TRY(sessions.visible_context(summary)));
  SB_TRY(add_delivered(sessions, id, tip, value));
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
  return Value::Array{
      Value::object({{"uriTemplate", kSessionTemplate},
                     {"name", "session"},
                     {"title", "A session"},
                     {"description", "Its status, its steps, its context values, and what it has delivered"},
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
  if (!seen && seen.error().code == ErrorCode::kForbidden) {
    return RpcError{net::rpc::kInvalidParams, seen.error().to_string()};
  }
  if (!seen) return failed(seen.error());
  return contents(uri, *seen);
}

std::string session_fingerprint(WorkerContext& worker, const std::string& session) {
  const auto home = worker.home();
  const auto id = home ? (*home)->sessions().resolve(session) : std::unexpected(home.error());
  const auto summary = id ? (*home)->sessions().summary(*id) : std::unexpected(id.error());
  return summary && !summary->is_driven() ? fmt::format("{} {} {}", summary->id, summary->events, summary->updated_at)
                                          : "";
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
    for (const store::Row& row : rows) {
      const auto summary = engine::read_summary(snapshot, row.key);
      const bool is_a_runs = summary && *summary && (*summary)->is_driven();
      if (!is_a_runs) ids.push_back(row.key);
    }
    return Completion(std::move(ids), static_cast<std::size_t>(SB_TRY(snapshot.count(engine::kSessions, listing))));
  });
  return found ? std::move(*found) : none;
}

}  // namespace sb::mcp
