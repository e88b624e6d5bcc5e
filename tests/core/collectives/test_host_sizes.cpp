// SPDX-License-Identifier: Apache-2.0
// Sizes of hosts from those of ranks, by hand.
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "fairlead/collectives/host_sizes.hpp"

using namespace fairlead::collectives;

namespace {

const std::vector<std::int32_t> kEven{2, 2, 2};
/// 20 ranks on 6 hosts.
const std::vector<std::int32_t> kUneven{8, 8, 1, 1, 1, 1};

}  // namespace

TEST_CASE("host sizes: a whole vector is as large for a host as for a rank") {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce}) {
    const HostSizes sizes = host_sizes(operation, 1024, kUneven);
    CHECK(sizes.message_bytes == 1024);
    CHECK(sizes.block_bytes.empty());
  }
}

TEST_CASE("host sizes: a host's block is that of all its ranks") {
  for (const Operation operation :
       {Operation::gather, Operation::scatter, Operation::allgather, Operation::reduce_scatter}) {
    const HostSizes even = host_sizes(operation, 1024, kEven);
    CHECK(even.message_bytes == 2048);
    CHECK(even.block_bytes.empty());
    const HostSizes uneven = host_sizes(operation, 1024, kUneven);
    CHECK(uneven.message_bytes == 3413);
    CHECK(uneven.block_bytes == std::vector<double>{8192, 8192, 1024, 1024, 1024, 1024});
  }
}

TEST_CASE("host sizes: of an alltoall a block goes between each two ranks of two hosts") {
  CHECK(host_sizes(Operation::alltoall, 1024, kEven).message_bytes == 4096);
  CHECK(host_sizes(Operation::alltoall, 1024, kUneven).message_bytes == 11378);
  CHECK(host_sizes(Operation::alltoall, 1024, kUneven).block_bytes.empty());
}
