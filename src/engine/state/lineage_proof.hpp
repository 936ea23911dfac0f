// Proves that one session was started by another: a MAC under a key of this home over both ids and the depth, stored in
// the child's first event. Pure.
//
// Format: the key's id in four hex digits, a colon, 64 hex digits of HMAC-SHA-256 over `sb-lineage-1`, parent, child
// and depth, each on its own line. A retired key still proves what it signed: lineage is a record, not a credential.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/state/token.hpp"

namespace sb::engine {

struct Lineage {
  std::string parent, child;
  int depth = 0;  // of the child
};

std::string sign_lineage(const Lineage& lineage, const TokenKey& key);
// kForbidden for a signature that is missing, malformed, made with an unknown key or for something else.
Status verify_lineage(const Lineage& lineage, std::string_view signature,
                      const std::function<const TokenKey*(std::uint16_t)>& find_key);

}  // namespace sb::engine
