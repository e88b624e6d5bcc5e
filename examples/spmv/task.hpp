// SPDX-License-Identifier: Apache-2.0
// A task with its data, which any process can do: products with its neighbours, and its move.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "block.hpp"

namespace spmv {

/// Which process does which task, the same on all.
class Sharing {
 public:
  /// Collective. @param task That this process does.
  Sharing(MPI_Comm comm, int num_tasks, int task)
      : task_of_process_(static_cast<std::size_t>(num_tasks)),
        process_of_task_(static_cast<std::size_t>(num_tasks)) {
    MPI_Allgather(&task, 1, MPI_INT, task_of_process_.data(), 1, MPI_INT, comm);
    for (int process = 0; process < num_tasks; ++process) {
      process_of_task_[static_cast<std::size_t>(task_of(process))] = process;
    }
  }
  [[nodiscard]] int task_of(int process) const {
    return task_of_process_[static_cast<std::size_t>(process)];
  }
  [[nodiscard]] int process_of(int task) const {
    return process_of_task_[static_cast<std::size_t>(task)];
  }

 private:
  std::vector<int> task_of_process_;
  std::vector<int> process_of_task_;
};

/// The matrix rows and the vectors of a task.
struct Data {
  Matrix matrix;
  std::vector<double> vectors;  ///< Shape (own points, vectors).

  [[nodiscard]] double size_bytes() const {
    return static_cast<double>(matrix.first_entry_of_row.size() + matrix.column_of_entry.size()) *
               sizeof(std::int32_t) +
           static_cast<double>(matrix.value_of_entry.size() + vectors.size()) * sizeof(double);
  }
};

/// The task that a process does now.
class Task {
 public:
  Task(const Boxes& boxes, int number, std::size_t num_vectors, Data data)
      : number_(number),
        num_vectors_(num_vectors),
        faces_(faces_of(boxes, number)),
        matrix_(std::move(data.matrix)),
        in_(std::move(data.vectors)),
        out_(in_.size()) {
    std::size_t num_ghosts = 0;
    for (const Face& face : faces_) num_ghosts += face.num_points();
    in_.resize(in_.size() + num_ghosts * num_vectors);
    packed_.resize(num_ghosts * num_vectors);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] const std::vector<Face>& faces() const { return faces_; }
  [[nodiscard]] std::span<const double> vectors() const { return {in_.data(), out_.size()}; }

  /// Multiplies the vectors by the matrix, in place. Collective.
  void multiply(MPI_Comm comm, const Sharing& sharing) {
    exchange(comm, sharing);
    spmv::multiply(matrix_, num_vectors_, in_, out_);
    std::copy(out_.begin(), out_.end(), in_.begin());
  }

  /// Gives the data away; no process does the task until another is made of them.
  [[nodiscard]] Data release() {
    in_.resize(out_.size());
    return {std::move(matrix_), std::move(in_)};
  }

 private:
  void exchange(MPI_Comm comm, const Sharing& sharing) {
    constexpr int kTag = 1;
    requests_.clear();
    std::size_t packed = 0;
    for (const Face& face : faces_) {
      const int peer = sharing.process_of(face.neighbour);
      const std::size_t length = face.num_points() * num_vectors_;
      double* const ghosts = in_.data() + static_cast<std::size_t>(face.first_ghost) * num_vectors_;
      MPI_Irecv(ghosts, static_cast<int>(length), MPI_DOUBLE, peer, kTag, comm,
                &requests_.emplace_back());
      double* const piece = packed_.data() + packed;
      for (std::size_t i = 0; i < face.num_points(); ++i) {
        const double* const from =
            in_.data() + static_cast<std::size_t>(face.sent[i]) * num_vectors_;
        std::copy(from, from + num_vectors_, piece + i * num_vectors_);
      }
      MPI_Isend(piece, static_cast<int>(length), MPI_DOUBLE, peer, kTag, comm,
                &requests_.emplace_back());
      packed += length;
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  int number_;
  std::size_t num_vectors_;
  std::vector<Face> faces_;
  Matrix matrix_;
  std::vector<double> in_;   ///< Own points, then ghosts.
  std::vector<double> out_;  ///< Own points.
  std::vector<double> packed_;
  std::vector<MPI_Request> requests_;
};

/// Sends the data of this process's task to the process that does it next, and receives those of
/// its own next task. Collective.
[[nodiscard]] inline Data moved(MPI_Comm comm, Data data, const Sharing& now, const Sharing& then,
                                int rank) {
  const int to = then.process_of(now.task_of(rank));
  const int from = now.process_of(then.task_of(rank));
  if (to == rank) return data;
  constexpr int kTag = 2;
  const auto swap = [&](auto& sent, MPI_Datatype type) {
    auto received = sent;
    int num_sent = static_cast<int>(sent.size());
    int num_received = 0;
    MPI_Sendrecv(&num_sent, 1, MPI_INT, to, kTag, &num_received, 1, MPI_INT, from, kTag, comm,
                 MPI_STATUS_IGNORE);
    received.resize(static_cast<std::size_t>(num_received));
    MPI_Sendrecv(sent.data(), num_sent, type, to, kTag, received.data(), num_received, type, from,
                 kTag, comm, MPI_STATUS_IGNORE);
    sent = std::move(received);
  };
  swap(data.matrix.first_entry_of_row, MPI_INT32_T);
  swap(data.matrix.column_of_entry, MPI_INT32_T);
  swap(data.matrix.value_of_entry, MPI_DOUBLE);
  swap(data.vectors, MPI_DOUBLE);
  return data;
}

}  // namespace spmv
