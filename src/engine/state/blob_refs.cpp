#include "engine/state/blob_refs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kWorkflowPrefix = "sha256:";

void add(std::vector<BlobRef>& refs, const Value& hash, bool is_workflow) {
  if (!hash.is_string()) return;
  std::string_view hex = hash.as_string();
  if (is_workflow && hex.starts_with(kWorkflowPrefix)) hex.remove_prefix(kWorkflowPrefix.size());
  if (std::none_of(refs.begin(), refs.end(), [&](const BlobRef& known) { return known.hex == hex; })) {
    refs.push_back({std::string(hex), is_workflow});
  }
}

void add_all(std::vector<BlobRef>& refs, const Value& hashes) {
  if (hashes.is_array()) {
    for (const Value& hash : hashes.items()) add(refs, hash, false);
  } else if (hashes.is_object()) {
    for (const auto& [name, hash] : hashes.members()) add(refs, hash, false);
  }
}

}  // namespace

std::vector<BlobRef> blobs_of(const Event& event) {
  std::vector<BlobRef> refs;
  const Value& payload = event.payload;
  if (event.type == "session_started") {
    add(refs, payload["hash"], true);
    add(refs, payload["context"], false);
  } else if (event.type == "node_opened") {
    add(refs, payload["context"], false);
    add_all(refs, payload["artifacts"]);
    if (const Value& children = payload["children"]; children.is_array()) {
      for (const Value& child : children.items()) add(refs, child["hash"], true);
    }
  } else if (event.type == "output_recorded" || event.type == "attempt_blocked") {
    add_all(refs, payload["artifacts"]);
    add_all(refs, payload["unsolicited"]);
  }
  return refs;
}

std::vector<BlobRef> blobs_of_workflow(const Value& pinned) {
  std::vector<BlobRef> refs;
  if (const Value& calls = pinned["calls"]; calls.is_object()) {
    for (const auto& [id, hash] : calls.members()) add(refs, hash, true);
  }
  return refs;
}

Result<Digest> digest_from(std::string_view hex) {
  const auto bytes = from_hex(hex);
  Digest digest{};
  if (!bytes || bytes->size() != digest.size()) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is not a hash", quote_json(hex)));
  }
  std::ranges::copy(*bytes, digest.begin());
  return digest;
}

Status visit_blobs(const Event& event, std::set<std::string>& seen,
                   const std::function<Result<std::string>(const BlobRef&)>& read,
                   const std::function<Status(const BlobRef&, const std::string& text)>& visit) {
  std::vector<BlobRef> waiting = blobs_of(event);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const BlobRef ref = waiting[i];
    if (!seen.insert(ref.hex).second) continue;
    const std::string text = SB_TRY(read(ref));
    SB_TRY(visit(ref, text));
    if (!ref.is_workflow) continue;
    const Value pinned = SB_TRY(parse_stored(text));
    for (BlobRef& called : blobs_of_workflow(pinned)) waiting.push_back(std::move(called));
  }
  return {};
}

}  // namespace sb::engine
