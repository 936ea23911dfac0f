// Which blobs a session's events refer to: contexts, artifacts, and the pinned workflow with all it calls.
//
// Pure but for the blobs themselves, which come through a function of the caller's.
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

// What the event itself names, each once; a workflow's own references are not followed.
std::vector<BlobRef> blobs_of(const Event& event);
// The workflows a pinned definition calls.
std::vector<BlobRef> blobs_of_workflow(const Value& pinned);

Result<Digest> digest_from(std::string_view hex);

// Calls `visit` with each blob of the event that is not in `seen` yet, workflows followed to what they call, and adds
// it there. `read` gives a blob's text, or an error that ends the walk.
Status visit_blobs(const Event& event, std::set<std::string>& seen,
                   const std::function<Result<std::string>(const BlobRef&)>& read,
                   const std::function<Status(const BlobRef&, const std::string& text)>& visit);

}  // namespace sb::engine
