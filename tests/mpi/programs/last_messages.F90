! SPDX-License-Identifier: Apache-2.0
! last_messages of corners.c in Fortran: the delete callback of an attribute sends 100 bytes to the
! next rank, and new communicators get the handles of freed ones.
program last_messages
  use mpi
  implicit none
  external :: send_at_deletion
  integer :: rank, size, me, turn, keyval, rotated, error
  integer(kind=MPI_ADDRESS_KIND) :: value
  character :: letter = ' '
  value = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_deletion, keyval, value, error)
  do turn = 0, 2*size - 1
    call MPI_Comm_split(MPI_COMM_WORLD, 0, mod(rank + turn, size), rotated, error)
    call MPI_Comm_rank(rotated, me, error)
    if (me == 0) call MPI_Send(letter, 1, MPI_CHARACTER, 1, 0, rotated, error)
    if (me == 1) call MPI_Recv(letter, 1, MPI_CHARACTER, 0, 0, rotated, MPI_STATUS_IGNORE, error)
    value = rotated
    call MPI_Comm_set_attr(rotated, keyval, value, error)
    if (mod(turn, 2) == 0) then
      call MPI_Comm_free(rotated, error)
    else
      call MPI_Comm_disconnect(rotated, error)
    end if
  end do
  call MPI_Comm_free_keyval(keyval, error)
  call MPI_Finalize(error)
end program last_messages

! The handle is passed as the attribute's value: the one that Open MPI passes is not valid.
subroutine send_at_deletion(unusable, keyval, value, extra, error)
  use mpi
  implicit none
  integer :: unusable, keyval, error, comm, me, count
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  character(len=100), save :: outgoing = '', incoming = ''
  comm = int(value)
  call MPI_Comm_rank(comm, me, error)
  call MPI_Comm_size(comm, count, error)
  call MPI_Sendrecv(outgoing, 100, MPI_CHARACTER, mod(me + 1, count), 0, incoming, 100, &
                    MPI_CHARACTER, mod(me + count - 1, count), 0, comm, MPI_STATUS_IGNORE, error)
end subroutine send_at_deletion
