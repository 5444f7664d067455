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

/* Converts a request to a number: its handle. MPI may use the handle again for another request after this one has ended. */
int64_t handle_of(MPI_Request request)
{
    uintptr_t handle = 0;
    memcpy(&handle, &request, sizeof request < sizeof handle ? sizeof request : sizeof handle);
    return (int64_t)handle;
}

/* Converts a request to a number as `handle_of` does; 0 for MPI_REQUEST_NULL. */
int64_t known_handle(MPI_Request request)
{
    return request == MPI_REQUEST_NULL ? 0 : handle_of(request);
}

static void sent(int rank, int64_t bytes)
{
    if (rank != MPI_PROC_NULL) {
        counts.sends++;
        counts.sent_bytes += bytes;
    }
}

/* Writes source, tag and bytes of a message that has arrived into the record. */
static void arrived(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    word(rank_of(status->MPI_SOURCE));
    word(tag_of(status->MPI_TAG));
    word(bytes > 0 ? (int64_t)bytes : 0);
}

void record_send(struct clocks start, struct message sends)
{
    int64_t number = number_of(sends.comm, start);
    sent(sends.rank, sends.bytes);
    start_record(RECORD_SEND, 4);
    word(number), word(rank_of(sends.rank)), word(sends.tag), word(sends.bytes);
    end_record(start);
}

#define SENDS(NAME) \
    int MPI_##NAME(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(data, count, type, rank, tag, comm); \
        record_send(start, (struct message){bytes_of(count, type), rank, tag, comm}); \
        return error; \
    }
SENDS(Send)
SENDS(Bsend)
SENDS(Ssend)
SENDS(Rsend)

/* Records a call that returns a request: MPI_Isend, MPI_Irecv and their variants, and persistent requests (MPI_Send_init and others).
   A persistent request sends or receives a message at each MPI_Start, so its creation is not counted. */
void record_request(struct clocks start, enum record kind, struct message of, MPI_Request request)
{
    int64_t number = number_of(of.comm, start);
    if (kind == RECORD_ISEND)
        sent(of.rank, of.bytes);
    else if (kind == RECORD_IRECV)
        counts.receives += of.rank != MPI_PROC_NULL;
    start_record(kind, 5);
    word(number), word(rank_of(of.rank)), word(tag_of(of.tag)), word(of.bytes), word(handle_of(request));
    end_record(start);
}

#define REQUESTS(NAME, CONST, KIND) \
    int MPI_##NAME(CONST void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request) \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME(data, count, type, rank, tag, comm, request); \
        record_request(start, KIND, (struct message){bytes_of(count, type), rank, tag, comm}, *request); \
        return error; \
    }
REQUESTS(Isend, const, RECORD_ISEND)
REQUESTS(Ibsend, const, RECORD_ISEND)
REQUESTS(Issend, const, RECORD_ISEND)
REQUESTS(Irsend, const, RECORD_ISEND)
REQUESTS(Irecv, , RECORD_IRECV)
REQUESTS(Send_init, const, RECORD_SEND_INIT)
REQUESTS(Bsend_init, const, RECORD_SEND_INIT)
REQUESTS(Ssend_init, const, RECORD_SEND_INIT)
REQUESTS(Rsend_init, const, RECORD_SEND_INIT)
REQUESTS(Recv_init, , RECORD_RECV_INIT)

void record_receive(struct clocks start, struct message wanted, const MPI_Status *status)
{
    int64_t number = number_of(wanted.comm, start);
    counts.receives += wanted.rank != MPI_PROC_NULL;
    start_record(RECORD_RECV, 7);
    word(number), word(rank_of(wanted.rank)), word(tag_of(wanted.tag)), word(wanted.bytes);
    arrived(status);
    end_record(start);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    int error = PMPI_Recv(data, count, type, rank, tag, comm, status);
    record_receive(start, (struct message){bytes_of(count, type), rank, tag, comm}, status);
    return error;
}

/* Records a send and a receive in one call. The receive uses the communicator of the send. */
void record_exchange(struct clocks start, struct message sends, struct message wanted, const MPI_Status *status)
{
    int64_t number = number_of(sends.comm, start);
    sent(sends.rank, sends.bytes);
    counts.receives += wanted.rank != MPI_PROC_NULL;
    start_record(RECORD_SENDRECV, 10);
    word(number), word(rank_of(sends.rank)), word(sends.tag), word(sends.bytes);
    word(rank_of(wanted.rank)), word(tag_of(wanted.tag)), word(wanted.bytes);
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
    record_exchange(start, (struct message){bytes_of(count, type), to, tag, comm},
        (struct message){bytes_of(most, as), from, wanted, comm}, status);
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
    record_exchange(start, (struct message){bytes, to, tag, comm}, (struct message){bytes, from, wanted, comm}, status);
    return error;
}

void record_probe(struct clocks start)
{
    start_record(RECORD_PROBE, 0);
    end_record(start);
}

int MPI_Probe(int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct clocks start = clocks();
    int error = PMPI_Probe(rank, tag, comm, status);
    record_probe(start);
    return error;
}

int MPI_Iprobe(int rank, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct clocks start = clocks();
    int error = PMPI_Iprobe(rank, tag, comm, flag, status);
    count_poll(start);
    return error;
}
