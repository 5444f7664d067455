/* Calls that the format cannot express. The library executes each call and records its name; the reader lists these calls and refuses
   the file. */
#include "record.h"

#define REFUSED(NAME, PARAMETERS, ARGUMENTS) \
    int MPI_##NAME PARAMETERS \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME ARGUMENTS; \
        refuse("MPI_" #NAME, start); \
        return error; \
    }

/* One-sided communication begins with a window. */
REFUSED(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
    (base, size, unit, info, comm, win))
REFUSED(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
    (size, unit, info, comm, base, win))
REFUSED(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
    (size, unit, info, comm, base, win))
REFUSED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))

/* Calls that create communicators between two groups or programs, and MPI_Comm_idup, which returns before the communicator exists. */
REFUSED(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *new),
    (local, leader, peer, remote, tag, new))
REFUSED(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *new), (comm, high, new))
REFUSED(Comm_spawn, (const char *command, char *argv[], int most, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *new,
    int errors[]), (command, argv, most, info, root, comm, new, errors))
REFUSED(Comm_spawn_multiple, (int count, char *commands[], char **argv[], const int most[], const MPI_Info infos[], int root,
    MPI_Comm comm, MPI_Comm *new, int errors[]), (count, commands, argv, most, infos, root, comm, new, errors))
REFUSED(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *new), (port, info, root, comm, new))
REFUSED(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *new), (port, info, root, comm, new))
REFUSED(Comm_join, (int socket, MPI_Comm *new), (socket, new))
REFUSED(Comm_idup, (MPI_Comm comm, MPI_Comm *new, MPI_Request *request), (comm, new, request))

/* Matched probes (the message then has its own handle), queries of a request's status, and generalized requests. */
REFUSED(Mprobe, (int rank, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status), (rank, tag, comm, message, status))
REFUSED(Improbe, (int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
    (rank, tag, comm, flag, message, status))
REFUSED(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status), (request, flag, status))
REFUSED(Grequest_start, (MPI_Grequest_query_function *query, MPI_Grequest_free_function *end,
    MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request), (query, end, cancel, state, request))

#define PREFIX const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
REFUSED(Iscan, (PREFIX, MPI_Request *request), (data, into, count, type, op, comm, request))
REFUSED(Iexscan, (PREFIX, MPI_Request *request), (data, into, count, type, op, comm, request))

#define ONE_SIZE const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as, MPI_Comm comm
#define SIZES const void *data, int count, MPI_Datatype type, void *into, const int most[], const int places[], \
    MPI_Datatype as, MPI_Comm comm
#define BOTH_SIZES const void *data, const int sends[], const int places[], MPI_Datatype type, void *into, \
    const int receives[], const int into_places[], MPI_Datatype as, MPI_Comm comm
#define BOTH_TYPES const void *data, const int sends[], const MPI_Aint places[], const MPI_Datatype types[], void *into, \
    const int receives[], const MPI_Aint into_places[], const MPI_Datatype as[], MPI_Comm comm
REFUSED(Neighbor_allgather, (ONE_SIZE), (data, count, type, into, most, as, comm))
REFUSED(Neighbor_allgatherv, (SIZES), (data, count, type, into, most, places, as, comm))
REFUSED(Neighbor_alltoall, (ONE_SIZE), (data, count, type, into, most, as, comm))
REFUSED(Neighbor_alltoallv, (BOTH_SIZES), (data, sends, places, type, into, receives, into_places, as, comm))
REFUSED(Neighbor_alltoallw, (BOTH_TYPES), (data, sends, places, types, into, receives, into_places, as, comm))
REFUSED(Ineighbor_allgather, (ONE_SIZE, MPI_Request *request), (data, count, type, into, most, as, comm, request))
REFUSED(Ineighbor_allgatherv, (SIZES, MPI_Request *request), (data, count, type, into, most, places, as, comm, request))
REFUSED(Ineighbor_alltoall, (ONE_SIZE, MPI_Request *request), (data, count, type, into, most, as, comm, request))
REFUSED(Ineighbor_alltoallv, (BOTH_SIZES, MPI_Request *request),
    (data, sends, places, type, into, receives, into_places, as, comm, request))
REFUSED(Ineighbor_alltoallw, (BOTH_TYPES, MPI_Request *request),
    (data, sends, places, types, into, receives, into_places, as, comm, request))

/* File operations count as parts of the computations around them. The record of an opened file lets the reader report this. */
void record_file(struct clocks start)
{
    start_record(RECORD_FILE, 0);
    end_record(start);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *opened)
{
    struct clocks start = clocks();
    int error = PMPI_File_open(comm, name, mode, info, opened);
    record_file(start);
    return error;
}
