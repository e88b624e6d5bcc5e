// SPDX-License-Identifier: Apache-2.0
// Sizes are those for which `fairlead tune` plans (host_message_bytes in
// src/fairlead/decide/collectives/candidates.py, from which the numbers are).
#include "collectives/planned_sizes.hpp"

#include <vector>

#include "../../core/catch.hpp"

using namespace fairlead::intercept;
using fairlead::collectives::Operation;

namespace {

const std::vector<int> kEven{2, 2, 2};
const std::vector<int> kUneven{8, 8, 1, 1, 1, 1};

}  // namespace

TEST_CASE("planned sizes: a whole vector is as large for a host as for a rank") {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce}) {
    const PlannedSizes blocks = planned_sizes(operation, 1024, kUneven);
    CHECK(blocks.message_bytes == 1024);
    CHECK(blocks.block_bytes.empty());
  }
}

TEST_CASE("planned sizes: a host's block is that of all its ranks") {
  for (const Operation operation :
       {Operation::gather, Operation::scatter, Operation::allgather, Operation::reduce_scatter}) {
    const PlannedSizes even = planned_sizes(operation, 1024, kEven);
    CHECK(even.message_bytes == 2048);
    CHECK(even.block_bytes.empty());
    const PlannedSizes uneven = planned_sizes(operation, 1024, kUneven);
    CHECK(uneven.message_bytes == 3413);  // 20 ranks on 6 hosts
    CHECK(uneven.block_bytes == std::vector<double>{8192, 8192, 1024, 1024, 1024, 1024});
  }
}

TEST_CASE("planned sizes: of an alltoall a block goes between each two ranks of two hosts") {
  CHECK(planned_sizes(Operation::alltoall, 1024, kEven).message_bytes == 4096);
  CHECK(planned_sizes(Operation::alltoall, 1024, kUneven).message_bytes == 11378);
  CHECK(planned_sizes(Operation::alltoall, 1024, kUneven).block_bytes.empty());
}
