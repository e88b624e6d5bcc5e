! SPDX-License-Identifier: Apache-2.0
! The messages and collectives of twin.c through one of the three Fortran bindings:
! -DBINDING=1 is mpif.h, 2 is `use mpi`, 3 is `use mpi_f08`.
#if BINDING == 3
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST_HANDLE type(MPI_Request)
#else
#define COMMUNICATOR integer
#define REQUEST_HANDLE integer
#endif
program twin
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
  integer :: rank, size_bytes, error
  COMMUNICATOR :: half
  double precision, save :: buffer(16384)
  call MPI_Init(error)
  call MPI_Buffer_attach(buffer, 131072, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call run(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call run(half)
  call MPI_Comm_free(half, error)
  call detach()
  call MPI_Finalize(error)

contains

  subroutine detach()
#if BINDING == 3
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: detached
#else
    double precision :: detached
#endif
    call MPI_Buffer_detach(detached, size_bytes, error)
  end subroutine detach

  subroutine run(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, size
    call MPI_Comm_rank(comm, me, error)
    call MPI_Comm_size(comm, size, error)
    call send_all_kinds(comm, me, size)
    call call_collectives(comm, me, size)
  end subroutine run

  subroutine send_all_kinds(comm, me, size)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: me, size
    double precision, save, asynchronous :: outgoing(1024), incoming(2048)
    integer :: kind, dest, source, count
    REQUEST_HANDLE :: request, receive
    REQUEST_HANDLE :: requests(1)
    do kind = 0, 9
      dest = mod(me + kind + 1, size)
      source = mod(me + size - mod(kind + 1, size), size)
      count = 2**kind
      call MPI_Irecv(incoming, count, MPI_DOUBLE_PRECISION, source, 0, comm, receive, error)
      call MPI_Barrier(comm, error)
      request = MPI_REQUEST_NULL
      select case (kind)
      case (0)
        call MPI_Send(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, error)
      case (1)
        call MPI_Bsend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, error)
      case (2)
        call MPI_Ssend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, error)
      case (3)
        call MPI_Rsend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, error)
      case (4)
        call MPI_Isend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
      case (5)
        call MPI_Ibsend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
      case (6)
        call MPI_Issend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
      case (7)
        call MPI_Irsend(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
      case (8)
        call MPI_Send_init(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
        call MPI_Start(request, error)
      case (9)
        call MPI_Ssend_init(outgoing, count, MPI_DOUBLE_PRECISION, dest, 0, comm, request, error)
        requests(1) = request
        call MPI_Startall(1, requests, error)
        request = requests(1)
      end select
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      call MPI_Wait(receive, MPI_STATUS_IGNORE, error)
      if (kind >= 8) call MPI_Request_free(request, error)
    end do
    dest = mod(me + 1, size)
    source = mod(me + size - 1, size)
    call MPI_Sendrecv(outgoing, 3, MPI_DOUBLE_PRECISION, dest, 0, incoming, 3, &
                      MPI_DOUBLE_PRECISION, source, 0, comm, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv_replace(outgoing, 5, MPI_DOUBLE_PRECISION, dest, 0, source, 0, comm, &
                              MPI_STATUS_IGNORE, error)
    call MPI_Send(outgoing, 7, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, comm, error)
  end subroutine send_all_kinds

  subroutine call_collectives(comm, me, size)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: me, size
    double precision, save :: outgoing(1024), incoming(2048)
    integer :: counts(64), offsets(64), peer, unused(1)
    do peer = 0, size - 1
      counts(peer + 1) = me + peer + 1
      offsets(peer + 1) = 2 * size * peer
    end do
    unused = 0
    call MPI_Alltoall(outgoing, 3, MPI_DOUBLE_PRECISION, incoming, 3, MPI_DOUBLE_PRECISION, &
                      comm, error)
    call MPI_Alltoallv(MPI_IN_PLACE, unused, unused, MPI_DOUBLE_PRECISION, incoming, counts, &
                       offsets, MPI_DOUBLE_PRECISION, comm, error)
    call MPI_Allreduce(MPI_IN_PLACE, incoming, 11, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    call MPI_Bcast(incoming, 13, MPI_DOUBLE_PRECISION, 0, comm, error)
    call MPI_Gather(outgoing, 2, MPI_DOUBLE_PRECISION, incoming, 2, MPI_DOUBLE_PRECISION, 0, &
                    comm, error)
  end subroutine call_collectives
end program twin
