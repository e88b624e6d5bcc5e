// SPDX-License-Identifier: Apache-2.0
// Takes and gives payloads.
#include "router/payload.hpp"

#include <algorithm>

namespace fairlead::router {

Payload::Payload(std::size_t size_bytes, PipePool& pipes) : missing_bytes_(size_bytes) {
  if (size_bytes >= kMinSplicedBytes) pipe_ = pipes.lease();
}

Progress Payload::receive(Intake& intake, int socket) {
  if (pipe_ && !memory_) {
    const Progress progress = intake.move(socket, *pipe_, missing_bytes_);
    if (progress != Progress::complete) return progress;
  }
  if (missing_bytes_ == 0) return Progress::complete;
  allocate_rest();
  return intake.read(socket, missing_);
}

void Payload::allocate_rest() {
  if (memory_) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(missing_bytes_);
  missing_ = {memory_.get(), missing_bytes_};
  unsent_ = missing_;
}

void Payload::pad() {
  allocate_rest();
  std::ranges::fill(missing_, std::byte{0});
  missing_ = {};
}

Progress Payload::send(Output& output, bool has_more) {
  if (pipe_) {
    const bool is_followed = has_more || !unsent_.empty();
    const Progress progress = output.move(*pipe_, is_followed);
    if (progress != Progress::complete) return progress;
  }
  return output.write(unsent_, has_more);
}

}  // namespace fairlead::router
