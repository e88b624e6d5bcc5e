// SPDX-License-Identifier: Apache-2.0
// fairlead-router: listens, prints its port, and forwards until its standard input ends. The
// process that starts it holds the other end of that pipe, so it does not outlive that process.
#include <sys/resource.h>
#include <unistd.h>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read_until.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "fairlead/error.hpp"
#include "router/busy_polling.hpp"
#include "router/folder.hpp"
#include "router/options.hpp"
#include "router/router.hpp"
#include "router/spare_cores.hpp"

namespace fairlead::router {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{16} * 1024 * 1024;

// Connections and pipes of many jobs need more than the soft limit is on most systems, which is for
// programs that use select(2).
void take_all_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void say_where(std::uint16_t port) {
  std::printf("{\"port\": %u}\n", static_cast<unsigned>(port));
  std::fflush(stdout);
}

asio::awaitable<void> read_jobs(asio::io_context& context, Router& router) {
  asio::posix::stream_descriptor input(context, dup(STDIN_FILENO));
  std::string text;
  asio::error_code ended;
  while (true) {
    const std::size_t size =
        co_await asio::async_read_until(input, asio::dynamic_buffer(text, kMaxLineBytes), '\n',
                                        asio::redirect_error(asio::use_awaitable, ended));
    if (ended) break;
    try {
      const std::string_view line = std::string_view(text).substr(0, size);
      if (const auto key = parse_ended(line)) {
        router.remove(*key);
        std::puts("{\"job\": \"ended\"}");
      } else {
        router.add(parse_job(line));
        std::puts("{\"job\": \"taken\"}");
      }
    } catch (const Error& error) {
      std::fprintf(stderr, "fairlead-router: %s\n", error.what());
      std::puts("{\"job\": \"refused\"}");
    }
    std::fflush(stdout);
    text.erase(0, size);
  }
  context.stop();
}

int run(const Options& options) {
  take_all_descriptors();
  asio::io_context context(1);
  const Folder folder(options.folder);
  Router router(context);
  const std::uint16_t port = router.listen(options.address, options.port);
  router.listen_locally(folder.router_socket());
  router.serve_metrics(folder.metrics_socket());
  asio::signal_set signals(context, SIGTERM, SIGINT, SIGHUP);
  signals.async_wait([&context](const asio::error_code&, int) { context.stop(); });
  asio::co_spawn(context, read_jobs(context, router), asio::detached);
  say_where(port);
  run_busy_polling(context, num_own_cores(), num_running);
  return 0;
}

}  // namespace
}  // namespace fairlead::router

int main(int argc, char** argv) {
  using namespace fairlead;
  std::signal(SIGPIPE, SIG_IGN);
  router::Options options;
  try {
    options = router::parse_options(argc, argv);
  } catch (const InputError& error) {
    std::fprintf(stderr, "fairlead-router: %s\n%s", error.what(), router::kUsage);
    return 2;
  }
  try {
    (void)relay::Sodium::loaded();
    return router::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead-router: %s\n", error.what());
    return 1;
  }
}
