#include "engine/state/lineage_proof.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"

namespace sb::engine {
namespace {

std::string mac_of(const Lineage& lineage, const TokenKey& key) {
  const std::string signed_text = fmt::format("sb-lineage-1\n{}\n{}\n{}", lineage.parent, lineage.child, lineage.depth);
  return to_hex(as_bytes(hmac_sha256(key.secret, signed_text)));
}

}  // namespace

std::string sign_lineage(const Lineage& lineage, const TokenKey& key) {
  return fmt::format("{:04x}:{}", key.id, mac_of(lineage, key));
}

Status verify_lineage(const Lineage& lineage, std::string_view signature,
                      const std::function<const TokenKey*(std::uint16_t)>& find_key) {
  const auto forged = [&](std::string_view why) {
    return fail(ErrorCode::kForbidden,
                fmt::format("session {} does not descend from {}: {}", lineage.child, lineage.parent, why),
                "Start it again from its parent");
  };
  if (signature.empty()) return forged("its lineage is not signed");
  const auto id =
      signature.size() > 5 && signature[4] == ':' ? from_hex(signature.substr(0, 4)) : Result<std::string>();
  if (!id || id->size() != 2) return forged("its lineage is malformed");
  const auto number = (static_cast<unsigned char>((*id)[0]) << 8) | static_cast<unsigned char>((*id)[1]);
  const TokenKey* key = find_key(static_cast<std::uint16_t>(number));
  if (key == nullptr) return forged("its lineage was signed with a key of another home");
  if (!constant_time_equal(signature.substr(5), mac_of(lineage, *key))) return forged("its lineage is forged");
  return {};
}

}  // namespace sb::engine
