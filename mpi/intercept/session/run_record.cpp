// SPDX-License-Identifier: Apache-2.0
#include "session/run_record.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "session/features.hpp"
#include "session/new_file.hpp"

namespace fairlead::intercept {

void write_record(const std::string& name, int rank, const nlohmann::ordered_json& document,
                  const char* what) {
  const char* const folder = variable(kRecordVariable);
  if (folder == nullptr) return;
  const std::string text = document.dump() + "\n";
  NewFile file(std::string(folder) + "/" + name + "-" + std::to_string(rank) + ".json");
  file.write(std::as_bytes(std::span(text)));
  const int error = file.finish();
  if (error == 0 || error == ENOENT) return;
  std::fprintf(stderr, "fairlead: %s is not recorded: %s\n", what, std::strerror(error));
}

}  // namespace fairlead::intercept
