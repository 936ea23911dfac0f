#include "sandbox/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sb::sandbox {
namespace {

constexpr std::array<std::pair<std::string_view, Mode>, 2> kModes{
    {{"required", Mode::kRequired}, {"none", Mode::kNone}}};
constexpr std::size_t kPathBytes = 4'096;
constexpr std::size_t kHostBytes = 253;

bool is_plain_path(std::string_view path) {
  const bool has_control = std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  return !path.empty() && path != "/" && path != "~" && path != "~/" && path != "." && !has_control &&
         path.find("..") == std::string_view::npos;
}

SettingKey<Settings> read_key() {
  return {.name = "read",
          .help = "Files and folders that are visible besides the system and the tool chains found in the home",
          .schema = list_schema(text_schema(kPathBytes), limits::kSandboxRead),
          .read = [](const Reader& reader, const SettingSource&, Settings& settings) {
            settings.read.clear();
            for (const Reader& item : reader.items(limits::kSandboxRead)) {
              const auto path = item.string(kPathBytes);
              if (!path) continue;
              if (is_plain_path(*path)) {
                settings.read.push_back(*path);
              } else {
                item.fault(fmt::format("{} cannot be shown to agents", quote_json(*path)),
                           "Name one file or folder: /absolute, ~/below-the-home, or relative to the workspace",
                           ErrorCode::kInvalid, "bad_path");
              }
            }
          }};
}

SettingKey<Settings> network_key() {
  return {.name = "network",
          .help = "Servers that sandboxed commands may reach, as host:port",
          .schema = list_schema(text_schema(kHostBytes + 6, "^[^/:]+:[0-9]{1,5}$"), limits::kSandboxNetwork),
          .read = [](const Reader& reader, const SettingSource&, Settings& settings) {
            settings.network.clear();
            for (const Reader& item : reader.items(limits::kSandboxNetwork)) {
              const auto text = item.string(kHostBytes + 6);
              if (!text) continue;
              if (auto endpoint = read_endpoint(*text)) {
                settings.network.push_back(std::move(*endpoint));
              } else {
                item.fault(fmt::format("{} is not a host and a port", quote_json(*text)),
                           "Write it like registry.npmjs.org:443", ErrorCode::kInvalid, "bad_endpoint");
              }
            }
          }};
}

SettingKeys<Limits> limit_keys() {
  using L = Limits;
  return {integer_key("memory_mb", &L::memory_mb, 64, 4 << 20, "Memory of all processes of a command. Default: 8192"),
          integer_key("processes", &L::processes, 8, 100'000, "Processes of a command. Default: 1024"),
          integer_key("open_files", &L::open_files, 64, 1'000'000, "Open files per process. Default: 4096"),
          integer_key("shm_mb", &L::shm_mb, 1, 1 << 20, "Size of /dev/shm. Default: 256"),
          integer_key("cpu_s", &L::cpu_s, 1, 7 * 86'400, "Processor seconds per process. Default: 3600")};
}

}  // namespace

std::string Limits::text() const {
  return fmt::format("{} MB of memory, {} processes, {} open files, {} MB in /dev/shm, {} s of processor time",
                     memory_mb, processes, open_files, shm_mb, cpu_s);
}

std::optional<std::string> read_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kHostBytes) return std::nullopt;
  const std::string_view port = text.substr(colon + 1);
  const bool is_number =
      !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || std::stoi(std::string(port)) < 1 || std::stoi(std::string(port)) > 65'535) return std::nullopt;
  std::string host(text.substr(0, colon));
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!is_allowed) return std::nullopt;
  }
  if (host.front() == '-' || host.front() == '.') return std::nullopt;
  return fmt::format("{}:{}", host, std::stoi(std::string(port)));
}

SettingKeys<Settings> setting_keys() {
  using S = Settings;
  return {choice_key<S, Mode>("mode", &S::mode, kModes,
                              "none: agents run without a sandbox and can read everything you can. Default: required"),
          read_key(), network_key(),
          key_of(&S::limits, group_key<Limits>("limits", limit_keys(), "What the processes of one command may use"))};
}

}  // namespace sb::sandbox
