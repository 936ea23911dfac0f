#include "inbox/hidden_paths.hpp"

#include <utility>

#include "inbox/client_tokens.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::inbox {

std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      std::vector<std::string> further) {
  for (std::string& path : client_config_files(files, homes)) further.push_back(std::move(path));
  return sandbox::hidden_paths(files, environment, homes, further);
}

}  // namespace sb::inbox
