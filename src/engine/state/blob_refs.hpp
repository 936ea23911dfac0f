// The blobs that a session's events refer to: contexts, artifacts, and the pinned workflow with all workflows it calls.
//
// Pure except for reading the blobs, which the caller provides as a function.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/state/events.hpp"

namespace sb::engine {

struct BlobRef {
  std::string hex;
  bool is_workflow = false;  // a pinned definition, which may refer to others
};

// What the event itself names, each once; does not follow a workflow's own references.
std::vector<BlobRef> blobs_of(const Event& event);
// The workflows a pinned definition calls.
std::vector<BlobRef> blobs_of_workflow(const Value& pinned);

Result<Digest> digest_from(std::string_view hex);

// Calls `visit` with each blob of the event that is not yet in `seen`, including the workflows that a workflow calls,
// and adds it to `seen`. `read` returns a blob's text, or an error that ends the walk.
Status visit_blobs(const Event& event, std::set<std::string>& seen,
                   const std::function<Result<std::string>(const BlobRef&)>& read,
                   const std::function<Status(const BlobRef&, const std::string& text)>& visit);

}  // namespace sb::engine
