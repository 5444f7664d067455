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
    RECORD_PAUSE = 7, /* converters of other formats write it, and this library does not */
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

/* Ranks and tags in records, whatever numbers the MPI library has for them. */
enum { ANY = -1, NOBODY = -2 };

/* The time by the clock on the wall and by that of the processor [ns]. */
struct clocks {
    uint64_t wall, cpu;
};

/* Counts that MPI_Finalize records, so that a reader can check its own. */
struct counts {
    int64_t sends, sent_bytes, receives, collectives;
};
extern struct counts counts;

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
int64_t rank_of(int rank);
int64_t tag_of(int tag);
int64_t bytes_of(int64_t count, MPI_Datatype type);
int64_t handle_of(MPI_Request request);

#endif
