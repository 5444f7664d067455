/* The file of a rank. Records are collected in a buffer, which is written to the file when it is full and at MPI_Finalize. */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1, HEADER_BYTES = 32, HEAD_BYTES = 40, BUFFER_BYTES = 1 << 20 };
static const char MAGIC[8] = "WEFTCAP";

struct counts counts;

static int file = -1;
static unsigned char *buffer;
static size_t room, used, head;
static struct {
    int64_t calls;
    uint64_t wall, cpu;
    bool by_another_thread;
} polled;
static struct clocks at_init;
static pthread_t first_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Ends the program at once, without its exit handlers, because these may call MPI again. */
_Noreturn void fail(const char *what)
{
    fprintf(stderr, "weft capture: %s\n", what);
    _exit(2);
}

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Reading the processor time needs a system call, which is slow. If less than a microsecond of wall-clock time has passed since the
   last reading of the clocks, the thread has run all the time. The processor time has then grown as much as the wall-clock time. */
struct clocks clocks(void)
{
    static _Thread_local struct clocks last;
    uint64_t wall = now(CLOCK_MONOTONIC);
    if (wall - last.wall < 1000) {
        last.cpu += wall - last.wall;
    } else {
        uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
        last.cpu = cpu > last.cpu ? cpu : last.cpu;
    }
    last.wall = wall;
    return last;
}

/* Writes a number in little-endian order, on every machine. */
static void put(size_t at, uint64_t value, int bytes)
{
    for (int byte = 0; byte < bytes; byte++)
        buffer[at + (size_t)byte] = (unsigned char)(value >> (8 * byte));
}

static void write_out(void)
{
    size_t done = 0;
    while (done < used) {
        ssize_t bytes = write(file, buffer + done, used - done);
        if (bytes < 0 && errno != EINTR) {
            fprintf(stderr, "weft capture: the file of records can't be written: %s\n", strerror(errno));
            _exit(2);
        }
        done += bytes > 0 ? (size_t)bytes : 0;
    }
    used = 0;
}

static void make_room(size_t bytes)
{
    if (used + bytes > room)
        write_out();
    if (bytes > room) {
        room = bytes;
        buffer = realloc(buffer, room);
        if (buffer == NULL)
            fail("no memory is left for a record");
    }
}

void open_file(void)
{
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *folder = getenv("WEFT_CAPTURE");
    if (folder == NULL || folder[0] == 0)
        folder = "weft-capture";
    char path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "weft capture: the folder %s can't be created: %s\n", folder, strerror(errno));
        _exit(2);
    }
    snprintf(path, sizeof path, "%s/rank-%05d.wcap", folder, rank);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        fprintf(stderr, "weft capture: %s can't be written: %s\n", path, strerror(errno));
        _exit(2);
    }
    /* all files of a run have the same number of the run, so that the reader detects a file of another run */
    uint64_t run = now(CLOCK_REALTIME);
    PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    room = BUFFER_BYTES;
    buffer = malloc(room);
    if (buffer == NULL)
        fail("no memory is left for the buffer of the file");
    memcpy(buffer, MAGIC, sizeof MAGIC);
    put(8, VERSION, 4);
    put(12, (uint64_t)rank, 4);
    put(16, (uint64_t)ranks, 4);
    put(20, 0, 4);
    put(24, run, 8);
    used = HEADER_BYTES;
    first_thread = pthread_self();
    at_init = clocks();
    start_record(RECORD_INIT, 0);
    end_record(at_init);
}

/* The time in unsuccessful tests and in probes does not count as computation. Before the next record, this function writes a record
   with the sum of this time. */
static void write_polls(void)
{
    if (polled.calls == 0)
        return;
    make_room(HEAD_BYTES + 24);
    memset(buffer + used, 0, HEAD_BYTES);
    put(used, RECORD_POLL, 2);
    put(used + 2, polled.by_another_thread, 2);
    put(used + 4, 3, 4);
    used += HEAD_BYTES;
    word(polled.calls);
    word((int64_t)polled.wall);
    word((int64_t)polled.cpu);
    polled.calls = 0;
    polled.wall = polled.cpu = 0;
    polled.by_another_thread = false;
}

/* Begins a record of this kind, with this number of words. The same thread must end it with end_record, because the lock is held. */
void start_record(enum record kind, size_t words)
{
    pthread_mutex_lock(&lock);
    if (file < 0)
        fail("the program calls MPI before MPI_Init or after MPI_Finalize");
    write_polls();
    make_room(HEAD_BYTES + 8 * words);
    head = used;
    put(head, kind, 2);
    put(head + 2, !pthread_equal(first_thread, pthread_self()), 2);
    put(head + 4, words, 4);
    used += HEAD_BYTES;
}

void word(int64_t value)
{
    put(used, (uint64_t)value, 8);
    used += 8;
}

/* Reads the clocks last, so that the time of the recorder itself counts as time within the MPI call. */
void end_record(struct clocks start)
{
    put(head + 8, start.wall - at_init.wall, 8);
    put(head + 24, start.cpu - at_init.cpu, 8);
    struct clocks end = clocks();
    put(head + 16, end.wall - at_init.wall, 8);
    put(head + 32, end.cpu - at_init.cpu, 8);
    pthread_mutex_unlock(&lock);
}

void count_poll(struct clocks start)
{
    pthread_mutex_lock(&lock);
    polled.calls++;
    polled.by_another_thread |= !pthread_equal(first_thread, pthread_self());
    struct clocks end = clocks();
    polled.wall += end.wall - start.wall;
    polled.cpu += end.cpu - start.cpu;
    pthread_mutex_unlock(&lock);
}

/* Records a call that the format cannot express, by its name in words of 8 bytes. The reader lists these calls and refuses the file. */
void refuse(const char *call, struct clocks start)
{
    size_t words = (strlen(call) + 7) / 8;
    start_record(RECORD_REFUSED, words);
    memset(buffer + used, 0, 8 * words);
    memcpy(buffer + used, call, strlen(call));
    used += 8 * words;
    end_record(start);
}

void close_file(void)
{
    struct clocks start = clocks();
    start_record(RECORD_FINALIZE, 4);
    word(counts.sends);
    word(counts.sent_bytes);
    word(counts.receives);
    word(counts.collectives);
    end_record(start);
    write_out();
    if (close(file) != 0)
        fail("the file of records can't be closed");
    file = -1;
    free(buffer);
}
