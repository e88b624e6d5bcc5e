// SPDX-License-Identifier: Apache-2.0
// Routers and processes of a job in one process, all on the loopback interface.
//
//     process 0 --- router 0 --- router 1 --- process 1
//                       \          /
//                        router 2
#pragma once

#include <stdlib.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "endpoint/messenger.hpp"
#include "router/busy_polling.hpp"
#include "router/router.hpp"

namespace fairlead::tests {

inline relay::Key some_key(unsigned char fill = 1) {
  relay::Key key;
  key.fill(static_cast<std::byte>(fill));
  return key;
}

inline std::string make_folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "flXXXXXX";
  return mkdtemp(pattern.data());
}

/// A router in a thread of its own.
class RunningRouter {
 public:
  explicit RunningRouter(const std::string& folder,
                         std::size_t max_connections_of_job = router::Router::kMaxConnectionsOfJob)
      : folder_(folder),
        router_(std::make_unique<router::Router>(context_, max_connections_of_job)) {
    // As in the program: splice(2) has no flag against it.
    std::signal(SIGPIPE, SIG_IGN);
    std::filesystem::create_directory(folder);
    port_ = router_->listen("127.0.0.1", 0);
    router_->listen_locally(folder + "/router");
    router_->serve_metrics(folder + "/metrics");
    resume();
  }
  ~RunningRouter() { stop(); }

  /// As if it were killed.
  void stop() {
    if (!router_) return;
    hang();
    router_->close();
    router_.reset();
  }

  /// As if it were stopped by a signal: the kernel still takes what is sent to it.
  void hang() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  /// After `hang`.
  void resume() {
    context_.restart();
    thread_ = std::thread([this] {
      const auto guard = asio::make_work_guard(context_);
      // As where cores are spare, whatever else the machine does.
      router::run_busy_polling(context_, 1, [] { return 1; });
    });
  }

  void add(const router::Job& job) {
    asio::post(context_, [this, job] { router_->add(job); });
  }
  void remove(const relay::Key& key) {
    asio::post(context_, [this, key] { router_->remove(key); });
  }
  [[nodiscard]] router::Counters counters() {
    std::promise<router::Counters> promise;
    asio::post(context_, [&] { promise.set_value(router_->counters()); });
    return promise.get_future().get();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string socket() const { return folder_ + "/router"; }
  [[nodiscard]] std::string metrics() const { return folder_ + "/metrics"; }

 private:
  std::string folder_;
  asio::io_context context_;
  std::unique_ptr<router::Router> router_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class Network {
 public:
  explicit Network(std::size_t num_hosts,
                   std::size_t max_connections_of_job = router::Router::kMaxConnectionsOfJob) {
    for (std::size_t host = 0; host < num_hosts; ++host) {
      routers_.push_back(std::make_unique<RunningRouter>(folder_ + "/" + std::to_string(host),
                                                         max_connections_of_job));
    }
    admit(some_key());
  }
  ~Network() {
    routers_.clear();
    std::filesystem::remove_all(folder_);
  }

  void admit(const relay::Key& key) {
    router::Job job{.key = key};
    for (const auto& each : routers_) job.peers.push_back({"127.0.0.1", each->port()});
    for (std::size_t host = 0; host < routers_.size(); ++host) {
      job.host = static_cast<std::uint16_t>(host);
      routers_[host]->add(job);
    }
  }
  [[nodiscard]] RunningRouter& router(std::size_t host) { return *routers_[host]; }

 private:
  std::string folder_ = make_folder();
  std::vector<std::unique_ptr<RunningRouter>> routers_;
};

}  // namespace fairlead::tests
