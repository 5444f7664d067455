/* Requests: their starts, completions and ends. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* Room for copies of the requests of a call, because MPI overwrites them, and for statuses, if the program passes none. */
struct copies copies(int count, MPI_Status statuses[])
{
    size_t size = count > 0 ? (size_t)count : 1;
    struct copies made = {malloc(size * sizeof *made.handles), statuses, NULL};
    if (statuses == NULL)
        made.statuses = made.own = malloc(size * sizeof *made.own);
    if (made.handles == NULL || made.statuses == NULL)
        fail("no memory is left for requests");
    return made;
}

static struct copies of_requests(int count, const MPI_Request requests[], MPI_Status statuses[])
{
    struct copies made = copies(count, statuses == MPI_STATUSES_IGNORE ? NULL : statuses);
    for (int place = 0; place < count; place++)
        made.handles[place] = known_handle(requests[place]);
    return made;
}

void drop(struct copies made)
{
    free(made.handles);
    free(made.own);
}

/* Writes five words about a request that has ended: its handle, and source, tag, bytes and cancellation from its status. */
static void ended(int64_t handle, const MPI_Status *status)
{
    int is_cancelled = 0;
    MPI_Count bytes = 0;
    PMPI_Test_cancelled(status, &is_cancelled);
    if (!is_cancelled)
        PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    word(handle), word(rank_of(status->MPI_SOURCE)), word(tag_of(status->MPI_TAG));
    word(bytes > 0 ? (int64_t)bytes : 0), word(is_cancelled != 0);
}

void one_ended(struct clocks start, int64_t handle, const MPI_Status *status)
{
    if (handle == 0) {
        count_poll(start);
        return;
    }
    start_record(RECORD_COMPLETE, 5);
    ended(handle, status);
    end_record(start);
}

void all_ended(struct clocks start, int count, struct copies made)
{
    size_t known = 0;
    for (int place = 0; place < count; place++)
        known += made.handles[place] != 0;
    start_record(RECORD_COMPLETE, 5 * known);
    for (int place = 0; place < count; place++)
        if (made.handles[place] != 0)
            ended(made.handles[place], &made.statuses[place]);
    end_record(start);
}

void some_ended(struct clocks start, const int indices[], int count, struct copies made)
{
    start_record(RECORD_COMPLETE, 5 * (size_t)count);
    for (int place = 0; place < count; place++)
        ended(made.handles[indices[place]], &made.statuses[place]);
    end_record(start);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int64_t handle = known_handle(*request);
    struct clocks start = clocks();
    int error = PMPI_Wait(request, status);
    one_ended(start, handle, status);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int64_t handle = known_handle(*request);
    struct clocks start = clocks();
    int error = PMPI_Test(request, flag, status);
    one_ended(start, *flag ? handle : 0, status);
    return error;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct clocks start = clocks();
    struct copies made = of_requests(count, requests, statuses);
    int error = PMPI_Waitall(count, requests, made.statuses);
    all_ended(start, count, made);
    drop(made);
    return error;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct clocks start = clocks();
    struct copies made = of_requests(count, requests, statuses);
    int error = PMPI_Testall(count, requests, flag, made.statuses);
    if (*flag)
        all_ended(start, count, made);
    else
        count_poll(start);
    drop(made);
    return error;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    struct copies made = of_requests(count, requests, status);
    int error = PMPI_Waitany(count, requests, index, status);
    one_ended(start, *index == MPI_UNDEFINED ? 0 : made.handles[*index], status);
    drop(made);
    return error;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct clocks start = clocks();
    struct copies made = of_requests(count, requests, status);
    int error = PMPI_Testany(count, requests, index, flag, status);
    one_ended(start, !*flag || *index == MPI_UNDEFINED ? 0 : made.handles[*index], status);
    drop(made);
    return error;
}

#define SOME(NAME) \
    int MPI_##NAME(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) \
    { \
        struct clocks start = clocks(); \
        struct copies made = of_requests(count, requests, statuses); \
        int error = PMPI_##NAME(count, requests, done, indices, made.statuses); \
        if (*done == MPI_UNDEFINED || *done == 0) \
            count_poll(start); \
        else \
            some_ended(start, indices, *done, made); \
        drop(made); \
        return error; \
    }
SOME(Waitsome)
SOME(Testsome)

void on_requests(enum record kind, struct clocks start, int count, const int64_t handles[])
{
    start_record(kind, (size_t)count);
    for (int place = 0; place < count; place++)
        word(handles[place]);
    end_record(start);
}

int MPI_Start(MPI_Request *request)
{
    struct clocks start = clocks();
    int error = PMPI_Start(request);
    on_requests(RECORD_START, start, 1, (int64_t[]){handle_of(*request)});
    return error;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    struct clocks start = clocks();
    int error = PMPI_Startall(count, requests);
    struct copies made = of_requests(count, requests, MPI_STATUSES_IGNORE);
    on_requests(RECORD_START, start, count, made.handles);
    drop(made);
    return error;
}

int MPI_Request_free(MPI_Request *request)
{
    int64_t handle = handle_of(*request);
    struct clocks start = clocks();
    int error = PMPI_Request_free(request);
    on_requests(RECORD_REQUEST_FREE, start, 1, &handle);
    return error;
}

int MPI_Cancel(MPI_Request *request)
{
    int64_t handle = handle_of(*request);
    struct clocks start = clocks();
    int error = PMPI_Cancel(request);
    on_requests(RECORD_CANCEL, start, 1, &handle);
    return error;
}
