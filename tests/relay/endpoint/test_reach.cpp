// SPDX-License-Identifier: Apache-2.0
// What is found out of other processes before a message depends on them.
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "endpoint/connection.hpp"
#include "endpoint/reach.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::relay;
using fairlead::tests::Network;
using fairlead::tests::some_key;
using std::chrono::milliseconds;

namespace {

// A process that answers, without a router.
struct Answering {
  explicit Answering(const relay::Key& key = some_key())
      : messenger(config(key), "127.0.0.1", [](auto, auto) {}),
        address{"127.0.0.1", messenger.port()} {
    messenger.start({address});
  }

  static EndpointConfig config(const relay::Key& key) {
    EndpointConfig config;
    config.key = key;
    config.host_of_rank = {0};
    config.paths_of_host.resize(1);
    config.capacity_Bps_of_host = {1e12};
    config.socket = "/nonexistent";
    return config;
  }

  Messenger messenger;
  Address address;
};

// What the kernel takes and nobody answers, as behind a firewall.
struct Silent {
  Address address{"127.0.0.1", 0};
  FileDescriptor listener = listen_at(address.host, address.port);
};

// An address at which nobody listens yet.
struct Refusing {
  Refusing() {
    sockaddr_in bound{};
    bound.sin_family = AF_INET;
    bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof bound;
    auto* const any = reinterpret_cast<sockaddr*>(&bound);
    REQUIRE(bind(socket.number(), any, size) == 0);
    REQUIRE(getsockname(socket.number(), any, &size) == 0);
    address.port = ntohs(bound.sin_port);
  }

  Address address{"127.0.0.1", 0};
  FileDescriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
};

constexpr milliseconds kLong{30000};
constexpr milliseconds kShort{1000};

// From now on.
StartTimeouts timeouts(milliseconds calling, milliseconds answering) {
  return {.calling = calling, .until = Clock::now() + answering};
}

std::optional<std::size_t> unreached(const std::vector<Address>& addresses, milliseconds calling,
                                     milliseconds answering) {
  return find_unreached(addresses, 0, some_key(), timeouts(calling, answering));
}

void take_call_after(const Refusing& place, milliseconds time_refused, milliseconds time_silent) {
  std::this_thread::sleep_for(time_refused);
  listen(place.socket.number(), 1);
  std::this_thread::sleep_for(time_silent);
  FileDescriptor socket;
  while (!socket.is_open()) {
    socket = accept_from(place.socket);
    std::this_thread::yield();
  }
  Connection connection = Connection::answering(std::move(socket), some_key());
  while (!connection.is_closed()) {
    connection.write();
    connection.read([](const auto&, auto) {});
  }
}

}  // namespace

TEST_CASE("reach: processes that prove the key are reached, more of them than are called at once") {
  const Answering first;
  const Answering second;
  std::vector<Address> addresses;
  for (int call = 0; call < 50; ++call) {
    addresses.push_back(first.address);
    addresses.push_back(second.address);
  }
  CHECK_FALSE(unreached(addresses, kLong, kLong));
  CHECK_FALSE(unreached({}, kLong, kLong));
}

TEST_CASE("reach: who does not answer is found among those who do") {
  const Answering process;
  const Silent silent;
  CHECK(unreached({process.address, silent.address, process.address}, kLong, kShort) == 1);
}

TEST_CASE("reach: where nobody listens, nobody is reached") {
  const Answering process;
  Address nowhere;
  {
    nowhere = Silent().address;
  }
  CHECK(unreached({nowhere, process.address}, kShort, kLong) == 0);
  // One that no network leads to, and none at all.
  CHECK(unreached({{"224.0.0.1", process.address.port}}, kShort, kLong) == 0);
  CHECK(unreached({{"nonsense", 1}}, kShort, kLong) == 0);
}

TEST_CASE("reach: a process of another job is not reached") {
  const Answering process(some_key(2));
  CHECK(unreached({process.address}, kShort, kLong) == 0);
}

TEST_CASE("reach: a process that is late is called again") {
  const Refusing refusing;
  std::thread late([&] { take_call_after(refusing, milliseconds(250), milliseconds(0)); });
  CHECK_FALSE(unreached({refusing.address}, kLong, kLong));
  late.join();
}

TEST_CASE("reach: who takes a call has longer to answer than others have to take one") {
  const Refusing refusing;
  std::thread late([&] { take_call_after(refusing, milliseconds(0), 2 * kShort); });
  CHECK_FALSE(unreached({refusing.address}, kShort, kLong));
  late.join();
}

TEST_CASE("reach: one process of each other host is called, each by about as many") {
  // Three on host 0, two on host 1, one on host 2, one on host 3.
  const std::vector<std::uint16_t> host_of_rank{0, 1, 0, 2, 1, 3, 0};
  using Ranks = std::vector<std::uint32_t>;
  CHECK(ranks_to_reach(host_of_rank, 0) == Ranks{1, 3, 5});
  CHECK(ranks_to_reach(host_of_rank, 2) == Ranks{4, 3, 5});
  CHECK(ranks_to_reach(host_of_rank, 6) == Ranks{1, 3, 5});
  CHECK(ranks_to_reach(host_of_rank, 4) == Ranks{3, 5, 2});
  CHECK(ranks_to_reach(host_of_rank, 5) == Ranks{0, 1, 3});
  CHECK(ranks_to_reach(std::vector<std::uint16_t>{1, 1}, 1).empty());
}

TEST_CASE("reach: the own router has been reached when it has proved the key") {
  Network network(1);
  EndpointConfig config = Answering::config(some_key());
  config.socket = network.router(0).socket();
  Messenger process(config, "127.0.0.1", [](auto, auto) {});
  process.start({{"127.0.0.1", process.port()}});
  CHECK(process.wait_for_router(timeouts(kLong, kLong)));
  Answering without_router;
  CHECK_FALSE(without_router.messenger.wait_for_router(timeouts(kShort, kLong)));
}

TEST_CASE("reach: a router that stands still for a while has longer to answer than one not there") {
  Network network(1);
  network.router(0).hang();
  EndpointConfig config = Answering::config(some_key());
  config.socket = network.router(0).socket();
  Messenger process(config, "127.0.0.1", [](auto, auto) {});
  process.start({{"127.0.0.1", process.port()}});
  std::thread late([&] {
    std::this_thread::sleep_for(2 * kShort);
    network.router(0).resume();
  });
  CHECK(process.wait_for_router(timeouts(kShort, kLong)));
  late.join();
}
