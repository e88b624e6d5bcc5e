// SPDX-License-Identifier: Apache-2.0
// Fills a field's ghost faces with the neighbours' values, by nonblocking messages.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "domain.hpp"
#include "field.hpp"

namespace stencil {

/// One face of a field as an MPI datatype, so that nothing is copied by hand.
class Face {
 public:
  /// @param layer Position of the face in dimension `d`, counted with the ghosts.
  Face(const Field& field, std::size_t d, std::size_t layer) {
    PerDimension sizes{};
    PerDimension face_sizes{};
    PerDimension starts = {1, 1, 1};
    for (std::size_t k = 0; k < kNumDimensions; ++k) {
      face_sizes[k] = static_cast<int>(field.num_points()[k]);
      sizes[k] = face_sizes[k] + 2;
    }
    face_sizes[d] = 1;
    starts[d] = static_cast<int>(layer);
    MPI_Type_create_subarray(kNumDimensions, sizes.data(), face_sizes.data(), starts.data(),
                             MPI_ORDER_C, MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;
  ~Face() { MPI_Type_free(&type_); }

  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The two faces sent and the two ghost faces received in dimension `d`.
struct Faces {
  Faces(const Field& field, std::size_t d)
      : lower_ghost(field, d, 0),
        lower(field, d, 1),
        upper(field, d, field.num_points()[d]),
        upper_ghost(field, d, field.num_points()[d] + 1) {}

  Face lower_ghost;
  Face lower;
  Face upper;
  Face upper_ghost;
};

/// Works for every field of the same box.
class Halo {
 public:
  Halo(const Domain& domain, const Field& field)
      : domain_(domain), faces_{Faces(field, 0), Faces(field, 1), Faces(field, 2)} {}

  /// Collective. Sends to MPI_PROC_NULL do nothing, so the boundary of the cube stays as it is.
  void exchange(Field& field) const {
    std::array<MPI_Request, 4 * kNumDimensions> requests{};
    MPI_Request* request = requests.data();
    double* values = field.values().data();
    const MPI_Comm comm = domain_.comm();
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      const int up_tag = static_cast<int>(2 * d);
      const int down_tag = up_tag + 1;
      const int lower = domain_.lower(d);
      const int upper = domain_.upper(d);
      MPI_Irecv(values, 1, faces_[d].lower_ghost.type(), lower, up_tag, comm, request++);
      MPI_Irecv(values, 1, faces_[d].upper_ghost.type(), upper, down_tag, comm, request++);
      MPI_Isend(values, 1, faces_[d].lower.type(), lower, down_tag, comm, request++);
      MPI_Isend(values, 1, faces_[d].upper.type(), upper, up_tag, comm, request++);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  const Domain& domain_;
  std::array<Faces, kNumDimensions> faces_;
};

}  // namespace stencil
