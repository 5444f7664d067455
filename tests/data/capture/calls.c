/* Makes each call that Weft's recording library knows, with 4 ranks. Its messages are counted in tests/test_traces.py. */
#include <mpi.h>
#include <stdlib.h>

enum { RANKS = 4, TAG = 7 };
static int me, out[64], in[64];

/* Compute so long that the clock of the processor shows it. */
static void compute(void)
{
    for (volatile int step = 0; step < 20000; step++)
        ;
}

static void blocking(MPI_Comm comm)
{
    int next = (me + 1) % RANKS, before = (me + RANKS - 1) % RANKS;
    MPI_Sendrecv(out, 2, MPI_INT, next, TAG, in, 2, MPI_INT, before, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 3, MPI_INT, next, TAG, before, TAG, comm, MPI_STATUS_IGNORE);
    compute();
    if (me == 0)
        for (int peer = 1; peer < RANKS; peer++)
            MPI_Recv(in, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(out, me, MPI_INT, 0, me, comm);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, TAG, comm);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_STATUS_IGNORE);
}

static void non_blocking(MPI_Comm comm)
{
    MPI_Request requests[2 * RANKS];
    int index, flag = 0, done = 0, left, indices[2 * RANKS];
    for (int peer = 0; peer < RANKS; peer++) {
        MPI_Irecv(in + peer, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &requests[peer]);
        MPI_Isend(out, 1, MPI_INT, peer, TAG, comm, &requests[RANKS + peer]);
    }
    compute();
    MPI_Waitall(2 * RANKS, requests, MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < RANKS; peer++) {
        MPI_Irecv(in + peer, 1, MPI_INT, peer, TAG, comm, &requests[peer]);
        MPI_Issend(out, 1, MPI_INT, peer, TAG, comm, &requests[RANKS + peer]);
    }
    MPI_Waitany(2 * RANKS, requests, &index, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Testany(2 * RANKS, requests, &index, &flag, MPI_STATUS_IGNORE);
    for (left = 2 * RANKS - 2; left > 0; left -= done) {
        MPI_Waitsome(2 * RANKS, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    MPI_Irecv(in, 1, MPI_INT, me, TAG, comm, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, me, TAG, comm, &requests[1]);
    for (flag = 0; !flag;)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testall(1, &requests[1], &flag, MPI_STATUSES_IGNORE);
    /* a receive that nothing meets */
    MPI_Irecv(in, 1, MPI_INT, me, TAG + 1, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, 5, MPI_INT, (me + 1) % RANKS, TAG, comm, &requests[0]);
    MPI_Send_init(out, 5, MPI_INT, (me + RANKS - 1) % RANKS, TAG, comm, &requests[1]);
    for (int round = 0; round < 3; round++) {
        if (round == 0) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        } else {
            MPI_Startall(2, requests);
        }
        compute();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void collectives(MPI_Comm comm)
{
    int size, rank, counts[RANKS], places[RANKS];
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int peer = 0; peer < size; peer++) {
        counts[peer] = peer + 1;
        places[peer] = peer * (peer + 1) / 2;
    }
    MPI_Barrier(comm);
    MPI_Bcast(out, 8, MPI_INT, size - 1, comm);
    MPI_Reduce(out, in, 8, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, comm);
    MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, 0, comm);
    MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 0, comm);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
    MPI_Scatterv(out, counts, places, MPI_INT, in, rank + 1, MPI_INT, 0, comm);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, comm);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, comm);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, comm);
    for (int peer = 0; peer < size; peer++) {
        counts[peer] = rank + peer;
        places[peer] = 8 * peer;
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, comm, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm copy, half, grid, row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    blocking(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    non_blocking(copy);
    persistent(copy);
    collectives(copy);
    /* ranks 3, 1 and 2, 0; the last rank alone is in no other communicator */
    MPI_Comm_split(copy, me % 2, -me, &half);
    collectives(half);
    MPI_Comm_free(&half);
    MPI_Comm_split(copy, me == 3 ? MPI_UNDEFINED : 0, me, &half);
    if (half != MPI_COMM_NULL)
        MPI_Barrier(half);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid);
    MPI_Cart_sub(grid, (int[]){0, 1}, &row);
    MPI_Bcast(out, 6, MPI_INT, 1, row);
    MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
