// Signalbox's own server, ready for any transport: `signalbox mcp` and `signalbox serve` use it.
#pragma once

#include "base/seams.hpp"
#include "mcp/stdio_server.hpp"

namespace sb::mcp {

// Opens nothing: the first call that needs the store opens it. The seams must outlive the server.
ServerParts make_server_parts(const Seams& seams);

}  // namespace sb::mcp
