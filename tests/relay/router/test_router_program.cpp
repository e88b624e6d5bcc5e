// SPDX-License-Identifier: Apache-2.0
// The configuration of a router, its status, and its folder.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "processes.hpp"
#include "router/folder.hpp"
#include "router/job.hpp"
#include "router/options.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;

TEST_CASE("router: the counters are text for Prometheus") {
  Network network(1);
  Local::socket socket(context);
  socket.connect(Local::endpoint(network.router(0).metrics()));
  const std::string text = read_metrics(socket);
  CHECK(text.find("HTTP/1.0 200 OK") == 0);
  CHECK(text.find("\nfairlead_router_jobs 1\n") != text.npos);
  CHECK(text.find("fairlead_router_drops_total{reason=\"stalled\"} 0\n") != text.npos);
}

TEST_CASE("router: a line that describes no job is refused, and its key not repeated") {
  const std::string key(64, 'a');
  const std::string good =
      R"({"key": ")" + key + R"(", "host": 1, "peers": [["::1", 1], ["::1", 2]]})";
  CHECK(router::parse_job(good).peers[1].port == 2);
  CHECK(router::parse_job(good).key[31] == std::byte{0xaa});
  for (const std::string& bad :
       {std::string("no JSON"), std::string("[]"), R"({"key": ")" + key + R"(z"})",
        R"({"key": ")" + key + R"(", "host": 2, "peers": [["::1", 1], ["::1", 2]]})",
        R"({"key": ")" + key + R"(", "host": 0, "peers": [["::1", 70000]]})"}) {
    try {
      (void)router::parse_job(bad);
      FAIL("taken: " << bad);
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find(key) == std::string::npos);
    }
  }
}

TEST_CASE("router: a line ends a job") {
  const std::string key(64, 'a');
  CHECK(router::parse_ended(R"({"ended": ")" + key + R"("})").value()[31] == std::byte{0xaa});
  CHECK_FALSE(router::parse_ended(R"({"key": ")" + key + R"("})"));
  CHECK_FALSE(router::parse_ended("no JSON"));
  CHECK_THROWS_AS(router::parse_ended(R"({"ended": "aa"})"), InputError);
  CHECK_THROWS_AS(router::parse_ended(R"({"ended": 1})"), InputError);
}

TEST_CASE("router: addresses of options") {
  const auto parsed = [](std::string listen) {
    std::string name = "router";
    std::string option = "--listen";
    std::string folder_option = "--folder";
    std::string folder = "/tmp/x";
    char* argv[] = {name.data(), option.data(), listen.data(), folder_option.data(), folder.data()};
    return router::parse_options(5, argv);
  };
  CHECK(parsed("10.0.0.1:4000").port == 4000);
  CHECK(parsed("10.0.0.1").address == "10.0.0.1");
  CHECK(parsed("[::1]:80").address == "::1");
  CHECK(parsed("::1").address == "::1");
  CHECK_THROWS_AS(parsed("10.0.0.1:x"), InputError);
}

TEST_CASE("router: folders of killed routers are removed by the next one") {
  const std::string parent = make_folder();
  const std::string killed = parent + "/fairlead-router-1";
  const std::string other = parent + "/other";
  std::filesystem::create_directory(other);
  const router::Folder living(parent + "/fairlead-router-2");
  const pid_t child = fork();
  if (child == 0) {
    const router::Folder folder(killed);
    std::ofstream(folder.router_socket());
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  REQUIRE(std::filesystem::exists(killed + "/router"));
  {
    const router::Folder next(parent + "/fairlead-router-3");
    CHECK(std::filesystem::exists(parent + "/fairlead-router-3"));
  }
  CHECK_FALSE(std::filesystem::exists(killed));
  CHECK_FALSE(std::filesystem::exists(parent + "/fairlead-router-3"));
  CHECK(std::filesystem::exists(parent + "/fairlead-router-2"));
  CHECK(std::filesystem::exists(other));
  std::filesystem::remove_all(parent);
}

TEST_CASE("router: a folder that others may enter is refused, that of a former router taken") {
  const std::string parent = make_folder();
  const std::string path = parent + "/fairlead-router-1";
  {
    const router::Folder former(path);
    CHECK_NOTHROW(router::Folder(path));
  }
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms(0755));
  CHECK_THROWS_AS(router::Folder(path), InputError);
  std::filesystem::remove_all(parent);
}

TEST_CASE("router: one that ends leaves its folder to the one that was started again there") {
  const std::string parent = make_folder();
  const std::string path = parent + "/fairlead-router-1";
  {
    auto former = std::make_unique<router::Folder>(path);
    const router::Folder next(path);
    std::ofstream(next.router_socket());
    former.reset();
    CHECK(std::filesystem::exists(next.router_socket()));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  std::filesystem::remove_all(parent);
}
