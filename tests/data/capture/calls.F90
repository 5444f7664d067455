! The program of calls.c in Fortran, with the module `mpi`, and with -DF08 with `mpi_f08`. The recording of calls.c holds its counts.
#ifdef F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#else
#define COMM integer
#define REQUEST integer
#endif
program calls
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer, parameter :: ranks = 4, tag = 7
    integer :: me, out(64), in(64), error
    COMM :: copy, half, grid, row

    out = 1
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call blocking(MPI_COMM_WORLD)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
    call non_blocking(copy)
    call persistent(copy)
    call collectives(copy)
    call MPI_Comm_split(copy, mod(me, 2), -me, half, error)
    call collectives(half)
    call MPI_Comm_free(half, error)
    call MPI_Comm_split(copy, merge(MPI_UNDEFINED, 0, me == 3), me, half, error)
    if (half /= MPI_COMM_NULL) call MPI_Barrier(half, error)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, 2], [.false., .false.], .false., grid, error)
    call MPI_Cart_sub(grid, [.false., .true.], row, error)
    call MPI_Bcast(out, 6, MPI_INTEGER, 1, row, error)
    call MPI_Bcast(out, 1, MPI_INTEGER, 0, MPI_COMM_SELF, error)
    call MPI_Finalize(error)

contains

    subroutine blocking(comm)
        COMM, intent(in) :: comm
        integer :: next, before, peer
        next = mod(me + 1, ranks)
        before = mod(me + ranks - 1, ranks)
        call MPI_Sendrecv(out, 2, MPI_INTEGER, next, tag, in, 2, MPI_INTEGER, before, tag, comm, MPI_STATUS_IGNORE, error)
        call MPI_Sendrecv_replace(in, 3, MPI_INTEGER, next, tag, before, tag, comm, MPI_STATUS_IGNORE, error)
        if (me == 0) then
            do peer = 1, ranks - 1
                call MPI_Recv(in, 64, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE, error)
            end do
        else
            call MPI_Send(out, me, MPI_INTEGER, 0, me, comm, error)
        end if
        call MPI_Send(out, 1, MPI_INTEGER, MPI_PROC_NULL, tag, comm, error)
        call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine non_blocking(comm)
        COMM, intent(in) :: comm
        REQUEST :: requests(2 * ranks)
        integer :: peer, place, done, left, places(2 * ranks)
        logical :: is_done
#ifdef F08
        type(MPI_Status) :: status, statuses(2 * ranks)
#else
        integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2 * ranks)
#endif
        do peer = 1, ranks
            call MPI_Irecv(in(peer), 1, MPI_INTEGER, MPI_ANY_SOURCE, tag, comm, requests(peer), error)
            call MPI_Isend(out, 1, MPI_INTEGER, peer - 1, tag, comm, requests(ranks + peer), error)
        end do
        call MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE, error)
        do peer = 1, ranks
            call MPI_Irecv(in(peer), 1, MPI_INTEGER, peer - 1, tag, comm, requests(peer), error)
            call MPI_Issend(out, 1, MPI_INTEGER, peer - 1, tag, comm, requests(ranks + peer), error)
        end do
        call MPI_Waitany(2 * ranks, requests, place, status, error)
        is_done = .false.
        do while (.not. is_done)
            call MPI_Testany(2 * ranks, requests, place, is_done, MPI_STATUS_IGNORE, error)
        end do
        left = 2 * ranks - 2
        do while (left > 0)
            call MPI_Waitsome(2 * ranks, requests, done, places, statuses, error)
            left = left - done
        end do
        call MPI_Irecv(in, 1, MPI_INTEGER, me, tag, comm, requests(1), error)
        call MPI_Isend(out, 1, MPI_INTEGER, me, tag, comm, requests(2), error)
        is_done = .false.
        do while (.not. is_done)
            call MPI_Test(requests(1), is_done, MPI_STATUS_IGNORE, error)
        end do
        is_done = .false.
        do while (.not. is_done)
            call MPI_Testall(1, requests(2:2), is_done, MPI_STATUSES_IGNORE, error)
        end do
        call MPI_Irecv(in, 1, MPI_INTEGER, me, tag + 1, comm, requests(1), error)
        call MPI_Cancel(requests(1), error)
        call MPI_Wait(requests(1), status, error)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine persistent(comm)
        COMM, intent(in) :: comm
        REQUEST :: requests(2)
        integer :: round
        call MPI_Recv_init(in, 5, MPI_INTEGER, mod(me + 1, ranks), tag, comm, requests(1), error)
        call MPI_Send_init(out, 5, MPI_INTEGER, mod(me + ranks - 1, ranks), tag, comm, requests(2), error)
        do round = 1, 3
            if (round == 1) then
                call MPI_Start(requests(1), error)
                call MPI_Start(requests(2), error)
            else
                call MPI_Startall(2, requests, error)
            end if
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        end do
        call MPI_Request_free(requests(1), error)
        call MPI_Request_free(requests(2), error)
    end subroutine

    subroutine collectives(comm)
        COMM, intent(in) :: comm
        REQUEST :: request
        integer :: ranks_here, rank, peer, counts(ranks), places(ranks)
        call MPI_Comm_size(comm, ranks_here, error)
        call MPI_Comm_rank(comm, rank, error)
        counts = [(peer, peer = 1, ranks)]
        places = [(peer * (peer + 1) / 2, peer = 0, ranks - 1)]
        call MPI_Barrier(comm, error)
        call MPI_Bcast(out, 8, MPI_INTEGER, ranks_here - 1, comm, error)
        call MPI_Reduce(out, in, 8, MPI_INTEGER, MPI_SUM, 0, comm, error)
        call MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INTEGER, MPI_SUM, comm, error)
        call MPI_Gather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm, error)
        call MPI_Scatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, comm, error)
        call MPI_Allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, error)
        call MPI_Alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, error)
        call MPI_Gatherv(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, comm, error)
        call MPI_Scatterv(out, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, 0, comm, error)
        call MPI_Allgatherv(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, error)
        call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, comm, error)
        call MPI_Reduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, comm, error)
        call MPI_Scan(out, in, 1, MPI_INTEGER, MPI_SUM, comm, error)
        counts = [(rank + peer, peer = 0, ranks - 1)]
        places = [(8 * peer, peer = 0, ranks - 1)]
        ! in place, a rank sends what it receives: the counts of both sides are equal, since they are sums
        call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, error)
        call MPI_Ibarrier(comm, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call MPI_Iallreduce(out, in, 4, MPI_INTEGER, MPI_SUM, comm, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    end subroutine
end program
