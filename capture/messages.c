/* Messages between two ranks, and the completion of requests. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

int64_t rank_of(int rank)
{
    return rank == MPI_PROC_NULL ? NOBODY : rank == MPI_ANY_SOURCE ? ANY : rank;
}

int64_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? ANY : tag;
}

int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size_x(type, &size);
    return count * (int64_t)size;
}

/* A request as a number: its handle, which MPI may use again after the request has ended. */
int64_t handle_of(MPI_Request request)
{
    uintptr_t handle = 0;
    memcpy(&handle, &request, sizeof request < sizeof handle ? sizeof request : sizeof handle);
    return (int64_t)handle;
}

static void sent(int rank, int64_t bytes)
{
    if (rank != MPI_PROC_NULL) {
        counts.sends++;
        counts.sent_bytes += bytes;
    }
}

/* Source, tag and bytes of a message that has arrived. */
static void arrived(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    word(rank_of(status->MPI_SOURCE));
    word(tag_of(status->MPI_TAG));
    word(bytes > 0 ? (int64_t)bytes : 0);
}

#define SENDS(NAME) \
    int MPI_##NAME(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(data, count, type, rank, tag, comm); \
        int64_t number = number_of(comm, start), bytes = bytes_of(count, type); \
        sent(rank, bytes); \
        start_record(RECORD_SEND, 4); \
        word(number), word(rank_of(rank)), word(tag), word(bytes); \
        end_record(start); \
        return error; \
    }
SENDS(Send)
SENDS(Bsend)
SENDS(Ssend)
SENDS(Rsend)

/* Calls that return a request: MPI_Isend and its kin, and MPI_Send_init and its kin, which send at each MPI_Start. */
#define REQUESTS(NAME, CONST, KIND, COUNT) \
    int MPI_##NAME(CONST void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(data, count, type, rank, tag, comm, request); \
        int64_t number = number_of(comm, start), bytes = bytes_of(count, type); \
        COUNT; \
        start_record(KIND, 5); \
        word(number), word(rank_of(rank)), word(tag_of(tag)), word(bytes), word(handle_of(*request)); \
        end_record(start); \
        return error; \
    }
REQUESTS(Isend, const, RECORD_ISEND, sent(rank, bytes))
REQUESTS(Ibsend, const, RECORD_ISEND, sent(rank, bytes))
REQUESTS(Issend, const, RECORD_ISEND, sent(rank, bytes))
REQUESTS(Irsend, const, RECORD_ISEND, sent(rank, bytes))
REQUESTS(Irecv, , RECORD_IRECV, counts.receives += rank != MPI_PROC_NULL)
REQUESTS(Send_init, const, RECORD_SEND_INIT, (void)0)
REQUESTS(Bsend_init, const, RECORD_SEND_INIT, (void)0)
REQUESTS(Ssend_init, const, RECORD_SEND_INIT, (void)0)
REQUESTS(Rsend_init, const, RECORD_SEND_INIT, (void)0)
REQUESTS(Recv_init, , RECORD_RECV_INIT, (void)0)

int MPI_Recv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    int error = PMPI_Recv(data, count, type, rank, tag, comm, status);
    int64_t number = number_of(comm, start);
    counts.receives += rank != MPI_PROC_NULL;
    start_record(RECORD_RECV, 7);
    word(number), word(rank_of(rank)), word(tag_of(tag)), word(bytes_of(count, type));
    arrived(status);
    end_record(start);
    return error;
}

static void exchanged(struct clocks start, MPI_Comm comm, const int send[2], int64_t sent_bytes, const int receive[2],
    int64_t posted_bytes, const MPI_Status *status)
{
    int64_t number = number_of(comm, start);
    sent(send[0], sent_bytes);
    counts.receives += receive[0] != MPI_PROC_NULL;
    start_record(RECORD_SENDRECV, 10);
    word(number), word(rank_of(send[0])), word(send[1]), word(sent_bytes);
    word(rank_of(receive[0])), word(tag_of(receive[1])), word(posted_bytes);
    arrived(status);
    end_record(start);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *into, int most, MPI_Datatype as,
    int from, int wanted, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    int error = PMPI_Sendrecv(data, count, type, to, tag, into, most, as, from, wanted, comm, status);
    exchanged(start, comm, (int[]){to, tag}, bytes_of(count, type), (int[]){from, wanted}, bytes_of(most, as), status);
    return error;
}

int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag, int from, int wanted, MPI_Comm comm,
    MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    int error = PMPI_Sendrecv_replace(data, count, type, to, tag, from, wanted, comm, status);
    int64_t bytes = bytes_of(count, type);
    exchanged(start, comm, (int[]){to, tag}, bytes, (int[]){from, wanted}, bytes, status);
    return error;
}

int MPI_Probe(int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct clocks start = clocks();
    int error = PMPI_Probe(rank, tag, comm, status);
    start_record(RECORD_PROBE, 0);
    end_record(start);
    return error;
}

int MPI_Iprobe(int rank, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct clocks start = clocks();
    int error = PMPI_Iprobe(rank, tag, comm, flag, status);
    count_poll(start);
    return error;
}
