/* Records of MPI calls. docs/howto/capture.md describes the format of the files. */
#ifndef WEFT_RECORD_H
#define WEFT_RECORD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of records. The reader (crates/programs/src/readers/capture/stream.rs) has the same numbers. */
enum record {
    RECORD_INIT = 1,
    RECORD_FINALIZE = 2,
    RECORD_POLL = 3,
    RECORD_REFUSED = 4,
    RECORD_COMM = 5,
    RECORD_FILE = 6,
    RECORD_PAUSE = 7, /* only converters from other formats write this record, not this library */
    RECORD_SEND = 16,
    RECORD_RECV = 17,
    RECORD_SENDRECV = 18,
    RECORD_ISEND = 19,
    RECORD_IRECV = 20,
    RECORD_SEND_INIT = 21,
    RECORD_RECV_INIT = 22,
    RECORD_START = 23,
    RECORD_COMPLETE = 24,
    RECORD_REQUEST_FREE = 25,
    RECORD_CANCEL = 26,
    RECORD_PROBE = 27,
    RECORD_BARRIER = 32,
    RECORD_BCAST = 33,
    RECORD_REDUCE = 34,
    RECORD_ALLREDUCE = 35,
    RECORD_GATHER = 36,
    RECORD_SCATTER = 37,
    RECORD_ALLGATHER = 38,
    RECORD_ALLTOALL = 39,
    RECORD_GATHERV = 40,
    RECORD_SCATTERV = 41,
    RECORD_ALLGATHERV = 42,
    RECORD_ALLTOALLV = 43,
    RECORD_REDUCE_SCATTER = 44,
    RECORD_SCAN = 45,
};

/* Special ranks and tags in records: any source or tag, and MPI_PROC_NULL. They do not depend on the numbers of the MPI library. */
enum { ANY = -1, NOBODY = -2 };

/* Wall-clock time and processor time [ns]. */
struct clocks {
    uint64_t wall, cpu;
};

/* Counts that MPI_Finalize records, so that a reader can compare them with its own counts. */
struct counts {
    int64_t sends, sent_bytes, receives, collectives;
};
extern struct counts counts;

/* init.c */
void opened(void);
void closing(void);

/* file.c */
void open_file(void);
void close_file(void);
struct clocks clocks(void);
void start_record(enum record kind, size_t words);
void word(int64_t value);
void end_record(struct clocks start);
void count_poll(struct clocks start);
void refuse(const char *call, struct clocks start);
_Noreturn void fail(const char *what);

/* communicators.c */
void start_communicators(void);
void end_communicators(void);
int64_t number_of(MPI_Comm comm, struct clocks start);
void created(MPI_Comm comm, struct clocks start);

/* messages.c */
struct message {
    int64_t bytes;
    int rank, tag;
    MPI_Comm comm;
};
int64_t rank_of(int rank);
int64_t tag_of(int tag);
int64_t bytes_of(int64_t count, MPI_Datatype type);
int64_t handle_of(MPI_Request request);
int64_t known_handle(MPI_Request request);
void record_send(struct clocks start, struct message sends);
void record_request(struct clocks start, enum record kind, struct message of, MPI_Request request);
void record_receive(struct clocks start, struct message wanted, const MPI_Status *status);
void record_exchange(struct clocks start, struct message sends, struct message wanted, const MPI_Status *status);
void record_probe(struct clocks start);

/* requests.c */
struct copies {
    int64_t *handles;
    MPI_Status *statuses, *own;
};
struct copies copies(int count, MPI_Status statuses[]);
void drop(struct copies made);
void one_ended(struct clocks start, int64_t handle, const MPI_Status *status);
void all_ended(struct clocks start, int count, struct copies made);
void some_ended(struct clocks start, const int indices[], int count, struct copies made);
void on_requests(enum record kind, struct clocks start, int count, const int64_t handles[]);

/* collectives.c */
#define RECORDS(NAME, ...) void record_##NAME(struct clocks start, int64_t request, __VA_ARGS__)
RECORDS(Barrier, MPI_Comm comm);
RECORDS(Bcast, void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
RECORDS(Reduce, const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
RECORDS(Allreduce, const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
RECORDS(Gather, const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as, int root, MPI_Comm comm);
RECORDS(Scatter, const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as, int root, MPI_Comm comm);
RECORDS(Allgather, const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as, MPI_Comm comm);
RECORDS(Alltoall, const void *data, int count, MPI_Datatype type, void *into, int most, MPI_Datatype as, MPI_Comm comm);
RECORDS(Gatherv, const void *data, int count, MPI_Datatype type, void *into, const int receives[], const int places[],
    MPI_Datatype as, int root, MPI_Comm comm);
RECORDS(Scatterv, const void *data, const int sends[], const int places[], MPI_Datatype type, void *into, int most,
    MPI_Datatype as, int root, MPI_Comm comm);
RECORDS(Allgatherv, const void *data, int count, MPI_Datatype type, void *into, const int receives[], const int places[],
    MPI_Datatype as, MPI_Comm comm);
RECORDS(Reduce_scatter, const void *data, void *into, const int receives[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);
RECORDS(Reduce_scatter_block, const void *data, void *into, int most, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
RECORDS(Alltoallv, const void *data, const int sends[], const int places[], MPI_Datatype type, void *into,
    const int receives[], const int into_places[], MPI_Datatype as, MPI_Comm comm);
RECORDS(Alltoallw, const void *data, const int sends[], const int places[], const MPI_Datatype types[], void *into,
    const int receives[], const int into_places[], const MPI_Datatype as[], MPI_Comm comm);
void record_scan(struct clocks start, int64_t size, MPI_Comm comm);

/* refused.c */
void record_file(struct clocks start);

#endif
