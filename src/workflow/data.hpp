// Built-in data: the data files of this folder (refs, features, tags), and the workflows, routines and contracts.
#pragma once

#include <string_view>
#include <vector>

namespace sb::workflow {

// Empty if there is no file with this name.
std::string_view data_file(std::string_view name);

namespace bundled {
// Names relative to workflows/, such as `wr.shaping.yaml`, `routines/design-review.yaml`,
// `contracts/loop_control.yaml`; the content is JSON.
std::string_view data_file(std::string_view name);
std::vector<std::string_view> data_names();
}  // namespace bundled

}  // namespace sb::workflow
