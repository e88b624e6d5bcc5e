// SPDX-License-Identifier: Apache-2.0
// Calls that follow no schedule: between two groups, and with processes of another world.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "repeated.hpp"

namespace {

/// A rank of one of the two groups of an intercommunicator.
struct Side {
  MPI_Comm comm = MPI_COMM_NULL;
  bool has_root = false;  ///< rank 0 of this group is the root
  int rank = 0, size = 0, num_others = 0;
};

Side side_of(MPI_Comm comm, bool has_root) {
  Side side{.comm = comm, .has_root = has_root};
  MPI_Comm_rank(comm, &side.rank);
  MPI_Comm_size(comm, &side.size);
  MPI_Comm_remote_size(comm, &side.num_others);
  return side;
}

/// What each rank sends, the same number again and again.
int value_of(bool has_root, int rank) {
  return (has_root ? 1 : 100) * (rank + 1);
}

class CallsBetween {
 public:
  CallsBetween(const Side& side, int count)
      : at_(side),
        count_(count),
        is_root_(side.has_root && side.rank == 0),
        root_(is_root_        ? MPI_ROOT
              : side.has_root ? MPI_PROC_NULL
                              : 0),
        out_(static_cast<std::size_t>(count * side.size * side.num_others),
             value_of(side.has_root, side.rank)),
        in_(out_.size()) {
    for (int other = 0; other < side.num_others; ++other) {
      sum_of_others_ += value_of(!side.has_root, other);
    }
  }

  [[nodiscard]] int num_right() {
    const bool are_right[] = {barrier(),   bcast(),     reduce(),   gather(),        scatter(),
                              allgather(), allreduce(), alltoall(), reduce_scatter()};
    return static_cast<int>(std::count(std::begin(are_right), std::end(are_right), true));
  }

 private:
  bool barrier() { return MPI_Barrier(at_.comm) == MPI_SUCCESS; }

  bool bcast() {
    std::fill(in_.begin(), in_.end(), is_root_ ? out_[0] : kNothing);
    MPI_Bcast(in_.data(), count_, MPI_INT, root_, at_.comm);
    return at_.has_root || has_block(0, value_of(true, 0));
  }

  bool reduce() {
    forget();
    MPI_Reduce(out_.data(), in_.data(), count_, MPI_INT, MPI_SUM, root_, at_.comm);
    return !is_root_ || has_block(0, sum_of_others_);
  }

  bool gather() {
    forget();
    MPI_Gather(out_.data(), count_, type_if(!at_.has_root), in_.data(), count_, type_if(is_root_),
               root_, at_.comm);
    return !is_root_ || has_blocks_of_others();
  }

  bool scatter() {
    forget();
    MPI_Scatter(out_.data(), count_, type_if(is_root_), in_.data(), count_, type_if(!at_.has_root),
                root_, at_.comm);
    return at_.has_root || has_block(0, value_of(true, 0));
  }

  bool allgather() {
    forget();
    MPI_Allgather(out_.data(), count_, MPI_INT, in_.data(), count_, MPI_INT, at_.comm);
    return has_blocks_of_others();
  }

  bool allreduce() {
    forget();
    MPI_Allreduce(out_.data(), in_.data(), count_, MPI_INT, MPI_SUM, at_.comm);
    return has_block(0, sum_of_others_);
  }

  bool alltoall() {
    forget();
    MPI_Alltoall(out_.data(), count_, MPI_INT, in_.data(), count_, MPI_INT, at_.comm);
    return has_blocks_of_others();
  }

  // Both groups combine vectors of one length.
  bool reduce_scatter() {
    forget();
    MPI_Reduce_scatter_block(out_.data(), in_.data(), count_ * at_.num_others, MPI_INT, MPI_SUM,
                             at_.comm);
    bool is_right = true;
    for (int block = 0; block < at_.num_others; ++block) {
      is_right = is_right && has_block(block, sum_of_others_);
    }
    return is_right;
  }

  void forget() { std::fill(in_.begin(), in_.end(), kNothing); }

  // What a call does not look at may be anything.
  static MPI_Datatype type_if(bool is_looked_at) { return is_looked_at ? MPI_INT : MPI_Datatype{}; }

  [[nodiscard]] bool has_block(int block, int value) const {
    const auto first = in_.begin() + static_cast<std::ptrdiff_t>(block) * count_;
    return std::all_of(first, first + count_, [=](int found) { return found == value; });
  }

  [[nodiscard]] bool has_blocks_of_others() const {
    bool is_right = true;
    for (int other = 0; other < at_.num_others; ++other) {
      is_right = is_right && has_block(other, value_of(!at_.has_root, other));
    }
    return is_right;
  }

  static constexpr int kNothing = -1;
  Side at_;
  int count_;
  bool is_root_;
  int root_;
  int sum_of_others_ = 0;
  std::vector<int> out_, in_;
};

int num_right_between(MPI_Comm comm, bool has_root) {
  int num_right = 0;
  for (const int count : {1, 200, 5000}) {
    num_right += CallsBetween(side_of(comm, has_root), count).num_right();
  }
  return num_right;
}

/// The least of all ranks.
void print_right(MPI_Comm comm, int num_right) {
  int rank = 0, least = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&num_right, &least, 1, MPI_INT, MPI_MIN, comm);
  if (rank == 0) std::printf("right %d\n", least);
}

void call_between_groups() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool is_first = rank < size / 2;
  MPI_Comm group = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_first ? size / 2 : 0, 0, &between);
  print_right(MPI_COMM_WORLD, num_right_between(between, is_first));
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

/// Between worlds, of both together, and of the own one meanwhile.
void call_across(MPI_Comm between, bool is_spawned) {
  int num_right = num_right_between(between, !is_spawned);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(between, is_spawned ? 1 : 0, &all);
  for (const int count : {1, 200, 5000}) {
    num_right += adds_up(all, 0, count) ? 1 : 0;
    num_right += adds_up(MPI_COMM_WORLD, 1, count) ? 1 : 0;
  }
  print_right(all, num_right);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
}

void call_with_spawned(const char* program) {
  // Launchers differ in what they hand on.
  std::vector<std::string> words;
  for (const char* const name : {"LD_PRELOAD", "FAIRLEAD_PLAN"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) words.push_back(std::string(name) + "=" + value);
  }
  words.insert(words.end(), {program, "child"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn("env", arguments.data(), 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  call_across(children, false);
}

void be_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  call_across(parent, true);
}

}  // namespace
