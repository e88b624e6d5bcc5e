// SPDX-License-Identifier: Apache-2.0
// The delay line: frames that arrive at a TAP device are returned through it later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "delay_queue.hpp"
#include "frame.hpp"
#include "host_table.hpp"
#include "tap.hpp"

namespace fairlead::delay_line {

class Line {
 public:
  /// @throws std::system_error  the kernel refuses a descriptor
  Line(std::vector<Tap> taps, HostTable hosts);

  /// Serves until the process ends.
  /// @throws std::system_error  waiting failed
  [[noreturn]] void run();

 private:
  using FramePtr = std::unique_ptr<Frame>;

  /// Reads waiting frames of a device, some at a time, so that frames that are due are sent
  /// between.
  void take_in(std::size_t tap);
  void release_due();
  void set_alarm();
  FramePtr empty_frame();

  std::vector<Tap> taps_;
  HostTable hosts_;
  FileDescriptor events_;
  FileDescriptor alarm_;
  std::int64_t alarm_ns_ = 0;  ///< when the alarm goes off; 0: never
  DelayQueue<FramePtr> waiting_;
  std::vector<FramePtr> spare_;
};

}  // namespace fairlead::delay_line
