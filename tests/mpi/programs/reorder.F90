! SPDX-License-Identifier: Apache-2.0
! Topologies made through one of the three Fortran bindings: -DBINDING=1 is mpif.h, 2 is `use mpi`,
! 3 is `use mpi_f08`. Usage: reorder MAY_REORDER; one line per topology and process.
#if BINDING == 3
#define COMMUNICATOR type(MPI_Comm)
#else
#define COMMUNICATOR integer
#endif
program reorder
#if BINDING == 1
  implicit none
  include 'mpif.h'
#elif BINDING == 2
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
  integer :: rank, size, partner, error
  integer :: sources(1), degrees(1), targets(2), weights(2), ins(2), in_weights(2)
  COMMUNICATOR :: comm
  character(len=8) :: argument
  logical :: may_reorder
  call MPI_Init(error)
  call get_command_argument(1, argument)
  may_reorder = argument == '1'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)

  call MPI_Cart_create(MPI_COMM_WORLD, 2, (/ size / 2, 2 /), (/ .true., .false. /), may_reorder, &
                       comm, error)
  call print_grid()

  ! A heavy partner half-way round, a light ring.
  partner = mod(rank + size / 2, size)
  sources = rank
  degrees = 2
  targets = (/ partner, mod(rank + 1, size) /)
  weights = (/ 100 + rank, 1 /)
  ins = (/ partner, mod(rank + size - 1, size) /)
  in_weights = (/ 100 + partner, 1 /)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, targets, weights, &
                             MPI_INFO_NULL, may_reorder, comm, error)
  call print_graph('graph')
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ins, in_weights, 2, targets, weights, &
                                      MPI_INFO_NULL, may_reorder, comm, error)
  call print_graph('adjacent')
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, ins, MPI_UNWEIGHTED, 1, targets, &
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, may_reorder, comm, error)
  call print_graph('unweighted')
  call MPI_Finalize(error)

contains

  subroutine print_grid()
    integer :: new_rank, dims(2), coordinates(2), below, above
    logical :: periods(2)
    call MPI_Comm_rank(comm, new_rank, error)
    call MPI_Cart_get(comm, 2, dims, periods, coordinates, error)
    call MPI_Cart_shift(comm, 0, 1, below, above, error)
    write (*, '(a,i0,a,2(1x,i0),2l2,4(1x,i0),a,i0)') 'cart new ', new_rank, ' grid', dims, &
      periods, coordinates, below, above, ' old ', rank
    call MPI_Comm_free(comm, error)
  end subroutine print_grid

  subroutine print_graph(name)
    character(len=*), intent(in) :: name
    integer :: new_rank, num_in, num_out
    integer :: from(2), from_weights(2), to(2), to_weights(2)
    logical :: weighted
    from = -1
    from_weights = -1
    to = -1
    to_weights = -1
    call MPI_Comm_rank(comm, new_rank, error)
    call MPI_Dist_graph_neighbors_count(comm, num_in, num_out, weighted, error)
    if (weighted) then
      call MPI_Dist_graph_neighbors(comm, num_in, from, from_weights, num_out, to, to_weights, &
                                    error)
    else
      call MPI_Dist_graph_neighbors(comm, num_in, from, MPI_UNWEIGHTED, num_out, to, &
                                    MPI_UNWEIGHTED, error)
    end if
    write (*, '(2a,i0,a,l2,8(1x,i0),a,i0)') name, ' new ', new_rank, ' neighbours', weighted, from, &
      from_weights, to, to_weights, ' old ', rank
    call MPI_Comm_free(comm, error)
  end subroutine print_graph
end program reorder
