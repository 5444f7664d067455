/* Collectives, blocking and not. Each record begins with the communicator and the request, which is 0 for a blocking call. */
#include "record.h"

/* A call of a collective: begin, kind of record, communicator, and request (0 for a blocking call). */
struct collective {
    struct clocks start;
    enum record kind;
    MPI_Comm comm;
    int64_t request;
};

static void start_collective(struct collective call, size_t words)
{
    int64_t number = number_of(call.comm, call.start);
    counts.collectives++;
    start_record(call.kind, 2 + words);
    word(number), word(call.request);
}

static int size_of(MPI_Comm comm)
{
    int size;
    PMPI_Comm_size(comm, &size);
    return size;
}

static bool is_root(MPI_Comm comm, int root)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

static void nothing(struct collective call)
{
    start_collective(call, 0);
    end_record(call.start);
}

static void bytes(struct collective call, int64_t bytes)
{
    start_collective(call, 1);
    word(bytes);
    end_record(call.start);
}

static void rooted(struct collective call, int root, int64_t bytes)
{
    start_collective(call, 2);
    word(root), word(bytes);
    end_record(call.start);
}

/* Records the root and the sizes of the blocks of all ranks. `counts` is NULL if this rank does not know the sizes. */
static void blocks(struct collective call, int root, const int counts[], MPI_Datatype type)
{
    int size = counts == NULL ? 0 : size_of(call.comm);
    start_collective(call, 1 + (size_t)size);
    word(root);
    for (int place = 0; place < size; place++)
        word(bytes_of(counts[place], type));
    end_record(call.start);
}

static void equal_blocks(struct collective call, int count, MPI_Datatype type)
{
    int size = size_of(call.comm);
    start_collective(call, 1 + (size_t)size);
    word(0);
    for (int place = 0; place < size; place++)
        word(bytes_of(count, type));
    end_record(call.start);
}

/* Records the sizes of the blocks that this rank sends to each rank, and of those that it receives from each rank. With step 0 all
   blocks have one datatype, with step 1 each block has its own. */
static void exchanges(struct collective call, const int *sends, const MPI_Datatype *send_types, const int *receives,
    const MPI_Datatype *receive_types, int step)
{
    int size = size_of(call.comm);
    start_collective(call, 2 * (size_t)size);
    for (int place = 0; place < size; place++)
        word(bytes_of(sends[place], send_types[step * place]));
    for (int place = 0; place < size; place++)
        word(bytes_of(receives[place], receive_types[step * place]));
    end_record(call.start);
}

/* Defines a blocking call, the same call with a request, and the function that records both. Calls from Fortran use this function too. */
#define BOTH(NAME, WITH_REQUEST, KIND, PARAMETERS, ARGUMENTS, RECORD) \
    void record_##NAME(struct clocks start, int64_t request, LIST PARAMETERS) \
    { \
        struct collective call = {start, KIND, comm, request}; \
        RECORD; \
    } \
    int MPI_##NAME(LIST PARAMETERS) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(LIST ARGUMENTS); \
        record_##NAME(start, 0, LIST ARGUMENTS); \
        return error; \
    } \
    int MPI_##WITH_REQUEST(LIST PARAMETERS, MPI_Request *request) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##WITH_REQUEST(LIST ARGUMENTS, request); \
        record_##NAME(start, handle_of(*request), LIST ARGUMENTS); \
        return error; \
    }
#define LIST(...) __VA_ARGS__

BOTH(Barrier, Ibarrier, RECORD_BARRIER, (MPI_Comm comm), (comm), nothing(call))
BOTH(Bcast, Ibcast, RECORD_BCAST, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
    (data, count, type, root, comm), rooted(call, root, bytes_of(count, type)))
BOTH(Reduce, Ireduce, RECORD_REDUCE,
    (const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
    (data, into, count, type, op, root, comm), rooted(call, root, bytes_of(count, type)))
BOTH(Allreduce, Iallreduce, RECORD_ALLREDUCE,
    (const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
    (data, into, count, type, op, comm), bytes(call, bytes_of(count, type)))

/* Arguments for the block that a rank sends, and for the block that it receives. In gathers and scatters, the root takes the size of
   a block from the side on which it handles the blocks of all ranks. */
#define TWO_SIDES const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as
BOTH(Gather, Igather, RECORD_GATHER, (TWO_SIDES, int root, MPI_Comm comm), (data, count, type, into, most, as, root, comm),
    rooted(call, root, is_root(comm, root) ? bytes_of(most, as) : bytes_of(count, type)))
BOTH(Scatter, Iscatter, RECORD_SCATTER, (TWO_SIDES, int root, MPI_Comm comm), (data, count, type, into, most, as, root, comm),
    rooted(call, root, is_root(comm, root) ? bytes_of(count, type) : bytes_of(most, as)))
BOTH(Allgather, Iallgather, RECORD_ALLGATHER, (TWO_SIDES, MPI_Comm comm), (data, count, type, into, most, as, comm),
    bytes(call, bytes_of(most, as)))
BOTH(Alltoall, Ialltoall, RECORD_ALLTOALL, (TWO_SIDES, MPI_Comm comm), (data, count, type, into, most, as, comm),
    bytes(call, bytes_of(most, as)))
BOTH(Gatherv, Igatherv, RECORD_GATHERV,
    (const void *data, int count, MPI_Datatype type, void *into, const int receives[], const int places[], MPI_Datatype as,
        int root, MPI_Comm comm),
    (data, count, type, into, receives, places, as, root, comm),
    blocks(call, root, is_root(comm, root) ? receives : NULL, as))
BOTH(Scatterv, Iscatterv, RECORD_SCATTERV,
    (const void *data, const int sends[], const int places[], MPI_Datatype type, void *into, int most, MPI_Datatype as,
        int root, MPI_Comm comm),
    (data, sends, places, type, into, most, as, root, comm), blocks(call, root, is_root(comm, root) ? sends : NULL, type))
BOTH(Allgatherv, Iallgatherv, RECORD_ALLGATHERV,
    (const void *data, int count, MPI_Datatype type, void *into, const int receives[], const int places[], MPI_Datatype as,
        MPI_Comm comm),
    (data, count, type, into, receives, places, as, comm), blocks(call, 0, receives, as))
BOTH(Reduce_scatter, Ireduce_scatter, RECORD_REDUCE_SCATTER,
    (const void *data, void *into, const int receives[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
    (data, into, receives, type, op, comm), blocks(call, 0, receives, type))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, RECORD_REDUCE_SCATTER,
    (const void *data, void *into, int most, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
    (data, into, most, type, op, comm), equal_blocks(call, most, type))

/* With MPI_IN_PLACE a rank sends blocks of the sizes that it receives. */
#define IS_IN_PLACE (data == MPI_IN_PLACE)
BOTH(Alltoallv, Ialltoallv, RECORD_ALLTOALLV,
    (const void *data, const int sends[], const int places[], MPI_Datatype type, void *into, const int receives[],
        const int into_places[], MPI_Datatype as, MPI_Comm comm),
    (data, sends, places, type, into, receives, into_places, as, comm),
    exchanges(call, IS_IN_PLACE ? receives : sends, IS_IN_PLACE ? &as : &type, receives, &as, 0))
BOTH(Alltoallw, Ialltoallw, RECORD_ALLTOALLV,
    (const void *data, const int sends[], const int places[], const MPI_Datatype types[], void *into, const int receives[],
        const int into_places[], const MPI_Datatype as[], MPI_Comm comm),
    (data, sends, places, types, into, receives, into_places, as, comm),
    exchanges(call, IS_IN_PLACE ? receives : sends, IS_IN_PLACE ? as : types, receives, as, 1))

void record_scan(struct clocks start, int64_t size, MPI_Comm comm)
{
    bytes((struct collective){start, RECORD_SCAN, comm, 0}, size);
}

#define SCANS(NAME) \
    int MPI_##NAME(const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(data, into, count, type, op, comm); \
        record_scan(start, bytes_of(count, type), comm); \
        return error; \
    }
SCANS(Scan)
SCANS(Exscan)
