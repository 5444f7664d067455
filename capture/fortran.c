/* Calls from Fortran, by the interfaces `mpif.h`, `mpi` and `mpi_f08` of Open MPI. The functions of these interfaces do not call the C
   functions MPI_*, so each has its own recorder here. The recorder makes the original call, and records it like the recorder for C. */
#define _GNU_SOURCE
#include "record.h"

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <stdlib.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts of Fortran are counts of C");
#define LIST(...) __VA_ARGS__

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        fail("the MPI library lacks a function of its Fortran interface");
    return function;
}

/* Defines the two functions of a call: for `mpif.h` and `mpi`, and for `mpi_f08`. The code AROUND makes the original call through the
   pointer `call`, and records it. */
#define FORTRAN(NAME, PARAMETERS, ARGUMENTS, AROUND) \
    static void by_##NAME(void (*call)(LIST PARAMETERS, MPI_Fint *), LIST PARAMETERS, MPI_Fint *ierror) \
    { \
        struct clocks start = clocks(); \
        AROUND; \
    } \
    void mpi_##NAME##_(LIST PARAMETERS, MPI_Fint *ierror); \
    void mpi_##NAME##_(LIST PARAMETERS, MPI_Fint *ierror) \
    { \
        static void (*call)(LIST PARAMETERS, MPI_Fint *); \
        if (call == NULL) \
            call = (void (*)(LIST PARAMETERS, MPI_Fint *))next("mpi_" #NAME "_"); \
        by_##NAME(call, LIST ARGUMENTS, ierror); \
    } \
    void mpi_##NAME##_f08_(LIST PARAMETERS, MPI_Fint *ierror); \
    void mpi_##NAME##_f08_(LIST PARAMETERS, MPI_Fint *ierror) \
    { \
        static void (*call)(LIST PARAMETERS, MPI_Fint *); \
        if (call == NULL) \
            call = (void (*)(LIST PARAMETERS, MPI_Fint *))next("mpi_" #NAME "_f08_"); \
        by_##NAME(call, LIST ARGUMENTS, ierror); \
    }

#define COMM(HANDLE) PMPI_Comm_f2c(*(HANDLE))
#define TYPE(HANDLE) PMPI_Type_f2c(*(HANDLE))
#define REQUEST(HANDLE) PMPI_Request_f2c(*(HANDLE))
#define MESSAGE(COUNT, TYPE_OF, RANK, TAG, COMM_OF) \
    (struct message){bytes_of(*(COUNT), TYPE(TYPE_OF)), *(RANK), *(TAG), COMM(COMM_OF)}

/* The status of a call. The recorder needs a status even if the program ignores it. */
enum { STATUS_NUMBERS = sizeof(MPI_Status) / sizeof(MPI_Fint) };
#define OWN_STATUS \
    MPI_Fint own[STATUS_NUMBERS]; \
    if (status == MPI_F_STATUS_IGNORE) \
        status = own
static MPI_Status read_status(const MPI_Fint *status)
{
    MPI_Status read;
    PMPI_Status_f2c(status, &read);
    return read;
}

/* The handles of a list of requests, and room for their statuses, as in C (`made`) and as in Fortran. */
struct listed {
    struct copies made;
    MPI_Fint *statuses, *own;
};

static struct listed listed(int count, const MPI_Fint requests[], MPI_Fint *statuses)
{
    struct listed list = {copies(count, NULL), statuses, NULL};
    if (statuses == MPI_F_STATUSES_IGNORE)
        list.statuses = list.own = malloc((size_t)(count > 0 ? count : 1) * STATUS_NUMBERS * sizeof *list.own);
    if (list.statuses == NULL)
        fail("no memory is left for statuses");
    for (int place = 0; place < count; place++)
        list.made.handles[place] = known_handle(REQUEST(&requests[place]));
    return list;
}

static void read_statuses(struct listed list, int count)
{
    for (int place = 0; place < count; place++)
        list.made.statuses[place] = read_status(list.statuses + place * STATUS_NUMBERS);
}

static void drop_list(struct listed list)
{
    drop(list.made);
    free(list.own);
}

/* init.c */
FORTRAN(init_thread, (MPI_Fint * wanted, MPI_Fint *provided), (wanted, provided), (void)start;
    call(wanted, provided, ierror); opened())
#define WITHOUT_ARGUMENTS(NAME, BEFORE, AFTER) \
    void NAME(MPI_Fint *ierror); \
    void NAME(MPI_Fint *ierror) \
    { \
        BEFORE; \
        ((void (*)(MPI_Fint *))next(#NAME))(ierror); \
        AFTER; \
    }
WITHOUT_ARGUMENTS(mpi_init_, , opened())
WITHOUT_ARGUMENTS(mpi_init_f08_, , opened())
WITHOUT_ARGUMENTS(mpi_finalize_, closing(), )
WITHOUT_ARGUMENTS(mpi_finalize_f08_, closing(), )

/* messages.c */
#define ONE (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *rank, MPI_Fint *tag, MPI_Fint *comm)
#define ONE_GIVEN (data, count, type, rank, tag, comm)
#define SENDS(NAME) \
    FORTRAN(NAME, ONE, ONE_GIVEN, call(LIST ONE_GIVEN, ierror); record_send(start, MESSAGE(count, type, rank, tag, comm)))
SENDS(send)
SENDS(bsend)
SENDS(ssend)
SENDS(rsend)

#define REQUESTS(NAME, KIND) \
    FORTRAN(NAME, (LIST ONE, MPI_Fint *request), (LIST ONE_GIVEN, request), call(LIST ONE_GIVEN, request, ierror); \
        record_request(start, KIND, MESSAGE(count, type, rank, tag, comm), REQUEST(request)))
REQUESTS(isend, RECORD_ISEND)
REQUESTS(ibsend, RECORD_ISEND)
REQUESTS(issend, RECORD_ISEND)
REQUESTS(irsend, RECORD_ISEND)
REQUESTS(irecv, RECORD_IRECV)
REQUESTS(send_init, RECORD_SEND_INIT)
REQUESTS(bsend_init, RECORD_SEND_INIT)
REQUESTS(ssend_init, RECORD_SEND_INIT)
REQUESTS(rsend_init, RECORD_SEND_INIT)
REQUESTS(recv_init, RECORD_RECV_INIT)

FORTRAN(recv, (LIST ONE, MPI_Fint *status), (LIST ONE_GIVEN, status), OWN_STATUS; call(LIST ONE_GIVEN, status, ierror);
    MPI_Status read = read_status(status); record_receive(start, MESSAGE(count, type, rank, tag, comm), &read))
FORTRAN(sendrecv,
    (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *to, MPI_Fint *tag, void *into, MPI_Fint *most, MPI_Fint *as,
        MPI_Fint *from, MPI_Fint *wanted, MPI_Fint *comm, MPI_Fint *status),
    (data, count, type, to, tag, into, most, as, from, wanted, comm, status), OWN_STATUS;
    call(data, count, type, to, tag, into, most, as, from, wanted, comm, status, ierror);
    MPI_Status read = read_status(status);
    record_exchange(start, MESSAGE(count, type, to, tag, comm), MESSAGE(most, as, from, wanted, comm), &read))
FORTRAN(sendrecv_replace,
    (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *to, MPI_Fint *tag, MPI_Fint *from, MPI_Fint *wanted,
        MPI_Fint *comm, MPI_Fint *status),
    (data, count, type, to, tag, from, wanted, comm, status), OWN_STATUS;
    call(data, count, type, to, tag, from, wanted, comm, status, ierror); MPI_Status read = read_status(status);
    record_exchange(start, MESSAGE(count, type, to, tag, comm), MESSAGE(count, type, from, wanted, comm), &read))
FORTRAN(probe, (MPI_Fint * rank, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status), (rank, tag, comm, status),
    call(rank, tag, comm, status, ierror); record_probe(start))
FORTRAN(iprobe, (MPI_Fint * rank, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status),
    (rank, tag, comm, flag, status), call(rank, tag, comm, flag, status, ierror); count_poll(start))

/* requests.c; indices in Fortran begin with 1 */
FORTRAN(wait, (MPI_Fint * request, MPI_Fint *status), (request, status), OWN_STATUS;
    int64_t handle = known_handle(REQUEST(request)); call(request, status, ierror); MPI_Status read = read_status(status);
    one_ended(start, handle, &read))
FORTRAN(test, (MPI_Fint * request, MPI_Fint *flag, MPI_Fint *status), (request, flag, status), OWN_STATUS;
    int64_t handle = known_handle(REQUEST(request)); call(request, flag, status, ierror);
    if (*flag) { MPI_Status read = read_status(status); one_ended(start, handle, &read); } else count_poll(start))
FORTRAN(waitall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses), (count, requests, statuses),
    struct listed list = listed(*count, requests, statuses); call(count, requests, list.statuses, ierror);
    read_statuses(list, *count); all_ended(start, *count, list.made); drop_list(list))
FORTRAN(testall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses), (count, requests, flag, statuses),
    struct listed list = listed(*count, requests, statuses); call(count, requests, flag, list.statuses, ierror);
    if (*flag) { read_statuses(list, *count); all_ended(start, *count, list.made); } else count_poll(start);
    drop_list(list))
#define ANY_ENDED(IS_ONE) \
    if ((IS_ONE) && *index != MPI_UNDEFINED) { \
        MPI_Status read = read_status(status); \
        one_ended(start, list.made.handles[*index - 1], &read); \
    } else \
        count_poll(start); \
    drop_list(list)
FORTRAN(waitany, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status), (count, requests, index, status),
    OWN_STATUS; struct listed list = listed(*count, requests, status); call(count, requests, index, status, ierror);
    ANY_ENDED(true))
FORTRAN(testany, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status),
    (count, requests, index, flag, status), OWN_STATUS; struct listed list = listed(*count, requests, status);
    call(count, requests, index, flag, status, ierror); ANY_ENDED(*flag))
#define SOME(NAME) \
    FORTRAN(NAME, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses), \
        (count, requests, done, indices, statuses), struct listed list = listed(*count, requests, statuses); \
        call(count, requests, done, indices, list.statuses, ierror); if (*done == MPI_UNDEFINED || *done == 0) \
            count_poll(start); else { \
            int *places = malloc((size_t)*done * sizeof *places); \
            if (places == NULL) \
                fail("no memory is left for requests"); \
            for (int place = 0; place < *done; place++) \
                places[place] = indices[place] - 1; \
            read_statuses(list, *done); \
            some_ended(start, places, *done, list.made); \
            free(places); \
        } drop_list(list))
SOME(waitsome)
SOME(testsome)
FORTRAN(start, (MPI_Fint * request), (request), call(request, ierror);
    on_requests(RECORD_START, start, 1, (int64_t[]){handle_of(REQUEST(request))}))
FORTRAN(startall, (MPI_Fint * count, MPI_Fint *requests), (count, requests), call(count, requests, ierror);
    struct copies made = copies(*count, NULL);
    for (int place = 0; place < *count; place++) made.handles[place] = handle_of(REQUEST(&requests[place]));
    on_requests(RECORD_START, start, *count, made.handles); drop(made))
FORTRAN(request_free, (MPI_Fint * request), (request), int64_t handle = handle_of(REQUEST(request)); call(request, ierror);
    on_requests(RECORD_REQUEST_FREE, start, 1, &handle))
FORTRAN(cancel, (MPI_Fint * request), (request), int64_t handle = handle_of(REQUEST(request)); call(request, ierror);
    on_requests(RECORD_CANCEL, start, 1, &handle))

/* communicators.c; a call that fails creates no communicator */
#define CREATES(NAME, PARAMETERS, ARGUMENTS) \
    FORTRAN(NAME, PARAMETERS, ARGUMENTS, MPI_Fint error = MPI_SUCCESS; call(LIST ARGUMENTS, &error); \
        if (ierror != NULL) *ierror = error; if (error == MPI_SUCCESS) created(COMM(new), start))
CREATES(comm_dup, (MPI_Fint * comm, MPI_Fint *new), (comm, new))
CREATES(comm_dup_with_info, (MPI_Fint * comm, MPI_Fint *info, MPI_Fint *new), (comm, info, new))
CREATES(comm_split, (MPI_Fint * comm, MPI_Fint *color, MPI_Fint *rank, MPI_Fint *new), (comm, color, rank, new))
CREATES(comm_split_type, (MPI_Fint * comm, MPI_Fint *type, MPI_Fint *rank, MPI_Fint *info, MPI_Fint *new),
    (comm, type, rank, info, new))
CREATES(comm_create, (MPI_Fint * comm, MPI_Fint *group, MPI_Fint *new), (comm, group, new))
CREATES(comm_create_group, (MPI_Fint * comm, MPI_Fint *group, MPI_Fint *tag, MPI_Fint *new), (comm, group, tag, new))
CREATES(cart_create, (MPI_Fint * comm, MPI_Fint *n, MPI_Fint *dims, MPI_Fint *periods, MPI_Fint *reorder, MPI_Fint *new),
    (comm, n, dims, periods, reorder, new))
CREATES(cart_sub, (MPI_Fint * comm, MPI_Fint *kept, MPI_Fint *new), (comm, kept, new))
CREATES(graph_create, (MPI_Fint * comm, MPI_Fint *n, MPI_Fint *index, MPI_Fint *edges, MPI_Fint *reorder, MPI_Fint *new),
    (comm, n, index, edges, reorder, new))
CREATES(dist_graph_create,
    (MPI_Fint * comm, MPI_Fint *n, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations, MPI_Fint *weights,
        MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *new),
    (comm, n, sources, degrees, destinations, weights, info, reorder, new))
CREATES(dist_graph_create_adjacent,
    (MPI_Fint * comm, MPI_Fint *in, MPI_Fint *sources, MPI_Fint *in_weights, MPI_Fint *out, MPI_Fint *destinations,
        MPI_Fint *out_weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *new),
    (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, new))

/* collectives.c */
static void *in_place(void *data)
{
    static void *place;
    if (place == NULL)
        place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    return data == place ? MPI_IN_PLACE : data;
}

/* Returns the datatypes as in C, in a list that the caller frees. Without `is_there` (data in place) all are MPI_DATATYPE_NULL. */
static MPI_Datatype *types_of(MPI_Comm comm, bool is_there, const MPI_Fint types[])
{
    int size;
    PMPI_Comm_size(comm, &size);
    MPI_Datatype *made = malloc((size_t)size * sizeof *made);
    if (made == NULL)
        fail("no memory is left for datatypes");
    for (int place = 0; place < size; place++)
        made[place] = is_there ? PMPI_Type_f2c(types[place]) : MPI_DATATYPE_NULL;
    return made;
}

/* Defines a blocking call, and the same call with a request. RECORDED are the arguments of the function that records the call in C. */
#define COLLECTIVE(NAME, WITH_REQUEST, PARAMETERS, ARGUMENTS, RECORD, RECORDED) \
    FORTRAN(NAME, PARAMETERS, ARGUMENTS, call(LIST ARGUMENTS, ierror); RECORD(start, 0, LIST RECORDED)) \
    FORTRAN(WITH_REQUEST, (LIST PARAMETERS, MPI_Fint *request), (LIST ARGUMENTS, request), \
        call(LIST ARGUMENTS, request, ierror); RECORD(start, handle_of(REQUEST(request)), LIST RECORDED))

COLLECTIVE(barrier, ibarrier, (MPI_Fint * comm), (comm), record_Barrier, (COMM(comm)))
COLLECTIVE(bcast, ibcast, (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm),
    (data, count, type, root, comm), record_Bcast, (data, *count, TYPE(type), *root, COMM(comm)))
COLLECTIVE(reduce, ireduce,
    (void *data, void *into, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm),
    (data, into, count, type, op, root, comm), record_Reduce,
    (data, into, *count, TYPE(type), MPI_OP_NULL, *root, COMM(comm)))
#define SUMS (void *data, void *into, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm)
#define SUMS_GIVEN (data, into, count, type, op, comm)
#define SUMS_RECORDED (data, into, *count, TYPE(type), MPI_OP_NULL, COMM(comm))
COLLECTIVE(allreduce, iallreduce, SUMS, SUMS_GIVEN, record_Allreduce, SUMS_RECORDED)
COLLECTIVE(reduce_scatter_block, ireduce_scatter_block, SUMS, SUMS_GIVEN, record_Reduce_scatter_block, SUMS_RECORDED)
COLLECTIVE(reduce_scatter, ireduce_scatter, SUMS, SUMS_GIVEN, record_Reduce_scatter,
    (data, into, count, TYPE(type), MPI_OP_NULL, COMM(comm)))
#define SCANS(NAME) \
    FORTRAN(NAME, SUMS, SUMS_GIVEN, call(LIST SUMS_GIVEN, ierror); record_scan(start, bytes_of(*count, TYPE(type)), COMM(comm)))
SCANS(scan)
SCANS(exscan)

#define TWO_SIDES void *data, MPI_Fint *count, MPI_Fint *type, void *into, MPI_Fint *most, MPI_Fint *as
#define TWO_GIVEN data, count, type, into, most, as
#define TWO_RECORDED data, *count, TYPE(type), into, *most, TYPE(as)
#define WITH_ROOT(NAME, WITH_REQUEST, RECORD) \
    COLLECTIVE(NAME, WITH_REQUEST, (TWO_SIDES, MPI_Fint *root, MPI_Fint *comm), (TWO_GIVEN, root, comm), RECORD, \
        (TWO_RECORDED, *root, COMM(comm)))
WITH_ROOT(gather, igather, record_Gather)
WITH_ROOT(scatter, iscatter, record_Scatter)
COLLECTIVE(allgather, iallgather, (TWO_SIDES, MPI_Fint *comm), (TWO_GIVEN, comm), record_Allgather, (TWO_RECORDED, COMM(comm)))
COLLECTIVE(alltoall, ialltoall, (TWO_SIDES, MPI_Fint *comm), (TWO_GIVEN, comm), record_Alltoall, (TWO_RECORDED, COMM(comm)))

#define MANY_IN \
    void *data, MPI_Fint *count, MPI_Fint *type, void *into, MPI_Fint *receives, MPI_Fint *places, MPI_Fint *as
#define MANY_IN_GIVEN data, count, type, into, receives, places, as
#define MANY_IN_RECORDED data, *count, TYPE(type), into, receives, places, TYPE(as)
COLLECTIVE(gatherv, igatherv, (MANY_IN, MPI_Fint *root, MPI_Fint *comm), (MANY_IN_GIVEN, root, comm), record_Gatherv,
    (MANY_IN_RECORDED, *root, COMM(comm)))
COLLECTIVE(allgatherv, iallgatherv, (MANY_IN, MPI_Fint *comm), (MANY_IN_GIVEN, comm), record_Allgatherv,
    (MANY_IN_RECORDED, COMM(comm)))
COLLECTIVE(scatterv, iscatterv,
    (void *data, MPI_Fint *sends, MPI_Fint *places, MPI_Fint *type, void *into, MPI_Fint *most, MPI_Fint *as, MPI_Fint *root,
        MPI_Fint *comm),
    (data, sends, places, type, into, most, as, root, comm), record_Scatterv,
    (data, sends, places, TYPE(type), into, *most, TYPE(as), *root, COMM(comm)))

#define BOTH_SIDES \
    void *data, MPI_Fint *sends, MPI_Fint *places, MPI_Fint *type, void *into, MPI_Fint *receives, MPI_Fint *into_places, \
        MPI_Fint *as, MPI_Fint *comm
#define BOTH_GIVEN data, sends, places, type, into, receives, into_places, as, comm
COLLECTIVE(alltoallv, ialltoallv, (BOTH_SIDES), (BOTH_GIVEN), record_Alltoallv,
    (in_place(data), sends, places, TYPE(type), into, receives, into_places, TYPE(as), COMM(comm)))
static void all_to_all_of_types(struct clocks start, int64_t request, void *data, const MPI_Fint *sends, const MPI_Fint *types,
    const MPI_Fint *receives, const MPI_Fint *as, MPI_Comm comm)
{
    bool is_in_place = in_place(data) == MPI_IN_PLACE;
    MPI_Datatype *sent = types_of(comm, !is_in_place, types), *received = types_of(comm, true, as);
    record_Alltoallw(start, request, in_place(data), sends, NULL, sent, NULL, receives, NULL, received, comm);
    free(sent);
    free(received);
}
COLLECTIVE(alltoallw, ialltoallw, (BOTH_SIDES), (BOTH_GIVEN), all_to_all_of_types,
    (data, sends, type, receives, as, COMM(comm)))

/* refused.c */
#define REFUSED(NAME, PARAMETERS, ARGUMENTS, C_NAME) \
    FORTRAN(NAME, PARAMETERS, ARGUMENTS, call(LIST ARGUMENTS, ierror); refuse(C_NAME, start))
#define THREE (void *a, void *b, void *c)
#define THREE_GIVEN (a, b, c)
#define FIVE (LIST THREE, void *d, void *e)
#define FIVE_GIVEN (LIST THREE_GIVEN, d, e)
#define SIX (LIST FIVE, void *f)
#define SIX_GIVEN (LIST FIVE_GIVEN, f)
#define SEVEN (LIST SIX, void *g)
#define SEVEN_GIVEN (LIST SIX_GIVEN, g)
#define EIGHT (LIST SEVEN, void *h)
#define EIGHT_GIVEN (LIST SEVEN_GIVEN, h)
#define NINE (LIST EIGHT, void *i)
#define NINE_GIVEN (LIST EIGHT_GIVEN, i)
#define TEN (LIST NINE, void *j)
#define TEN_GIVEN (LIST NINE_GIVEN, j)
REFUSED(win_create, SIX, SIX_GIVEN, "MPI_Win_create")
REFUSED(win_allocate, SIX, SIX_GIVEN, "MPI_Win_allocate")
REFUSED(win_allocate_shared, SIX, SIX_GIVEN, "MPI_Win_allocate_shared")
/* `MPI_Win_allocate` by the interface `mpi`, where the address is a `C_PTR` */
REFUSED(win_allocate_cptr, SIX, SIX_GIVEN, "MPI_Win_allocate")
REFUSED(win_allocate_shared_cptr, SIX, SIX_GIVEN, "MPI_Win_allocate_shared")
REFUSED(win_create_dynamic, THREE, THREE_GIVEN, "MPI_Win_create_dynamic")
REFUSED(intercomm_create, SIX, SIX_GIVEN, "MPI_Intercomm_create")
REFUSED(intercomm_merge, THREE, THREE_GIVEN, "MPI_Intercomm_merge")
REFUSED(comm_join, (void *a, void *b), (a, b), "MPI_Comm_join")
REFUSED(comm_idup, THREE, THREE_GIVEN, "MPI_Comm_idup")
REFUSED(mprobe, FIVE, FIVE_GIVEN, "MPI_Mprobe")
REFUSED(improbe, SIX, SIX_GIVEN, "MPI_Improbe")
REFUSED(request_get_status, THREE, THREE_GIVEN, "MPI_Request_get_status")
REFUSED(iscan, SEVEN, SEVEN_GIVEN, "MPI_Iscan")
REFUSED(iexscan, SEVEN, SEVEN_GIVEN, "MPI_Iexscan")
REFUSED(neighbor_allgather, SEVEN, SEVEN_GIVEN, "MPI_Neighbor_allgather")
REFUSED(neighbor_allgatherv, EIGHT, EIGHT_GIVEN, "MPI_Neighbor_allgatherv")
REFUSED(neighbor_alltoall, SEVEN, SEVEN_GIVEN, "MPI_Neighbor_alltoall")
REFUSED(neighbor_alltoallv, NINE, NINE_GIVEN, "MPI_Neighbor_alltoallv")
REFUSED(neighbor_alltoallw, NINE, NINE_GIVEN, "MPI_Neighbor_alltoallw")
REFUSED(ineighbor_allgather, EIGHT, EIGHT_GIVEN, "MPI_Ineighbor_allgather")
REFUSED(ineighbor_allgatherv, NINE, NINE_GIVEN, "MPI_Ineighbor_allgatherv")
REFUSED(ineighbor_alltoall, EIGHT, EIGHT_GIVEN, "MPI_Ineighbor_alltoall")
REFUSED(ineighbor_alltoallv, TEN, TEN_GIVEN, "MPI_Ineighbor_alltoallv")
REFUSED(ineighbor_alltoallw, TEN, TEN_GIVEN, "MPI_Ineighbor_alltoallw")

/* The compiler passes the length of the file name after all other arguments. */
#define OPENS_FILE(NAME) \
    void NAME(void *comm, void *name, void *mode, void *info, void *opened_file, MPI_Fint *ierror, size_t length); \
    void NAME(void *comm, void *name, void *mode, void *info, void *opened_file, MPI_Fint *ierror, size_t length) \
    { \
        struct clocks start = clocks(); \
        ((void (*)(void *, void *, void *, void *, void *, MPI_Fint *, size_t))next(#NAME))( \
            comm, name, mode, info, opened_file, ierror, length); \
        record_file(start); \
    }
OPENS_FILE(mpi_file_open_)
OPENS_FILE(mpi_file_open_f08_)
#endif
