// Settings of the user and of a workspace: any bytes are parsed, or every fault has a location, and no fault shows the
// value of a secret.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pipeline/settings/run_settings.hpp"

namespace {

// Used in seeds in place of a secret.
constexpr const char* kSecret = "S3CR3T-0123456789";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto document = sb::parse_document("config.yaml", text);
  if (!document) return 0;
  for (const auto whose : {sb::pipeline::SettingsOrigin::kUser, sb::pipeline::SettingsOrigin::kWorkspace}) {
    sb::pipeline::RunSettings settings;
    sb::Faults faults;
    sb::pipeline::read_settings(*document, whose, "/h", settings, faults);
    for (const sb::Error& fault : faults) {
      if (fault.location.file.empty() || fault.message.empty()) std::abort();
      if (fault.rule == "literal_secret" && fault.to_string().find(kSecret) != std::string::npos) std::abort();
    }
    to_canonical_json(to_value(settings));
  }
  return 0;
}
