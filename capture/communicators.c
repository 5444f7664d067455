/* Communicators: each gets a number, and a record with its ranks, numbered as in MPI_COMM_WORLD. */
#include "record.h"

#include <stdlib.h>

static int key = MPI_KEYVAL_INVALID;
static int64_t numbers = 1; /* 0 is MPI_COMM_WORLD, 1 is MPI_COMM_SELF */
static MPI_Group world;

void start_communicators(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
}

void end_communicators(void)
{
    PMPI_Group_free(&world);
    PMPI_Comm_free_keyval(&key);
}

/* Returns the number of a communicator. Communicators between programs, and those that unknown calls created, have no number: the
   call is then recorded as refused. */
int64_t number_of(MPI_Comm comm, struct clocks start)
{
    if (comm == MPI_COMM_WORLD)
        return 0;
    if (comm == MPI_COMM_SELF)
        return 1;
    void *value;
    int is_known = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_get_attr(comm, key, &value, &is_known);
    if (is_known)
        return (int64_t)(intptr_t)value;
    refuse("a call on a communicator that no recorded call created", start);
    return NOBODY;
}

/* Records a new communicator. MPI_COMM_NULL means that this rank is not in the new communicator. */
void created(MPI_Comm comm, struct clocks start)
{
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Group group;
    int size;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_group(comm, &group);
    int *places = malloc(2 * (size_t)size * sizeof *places);
    if (places == NULL)
        fail("no memory is left for the ranks of a communicator");
    int *ranks = places + size;
    for (int place = 0; place < size; place++)
        places[place] = place;
    PMPI_Group_translate_ranks(group, size, places, world, ranks);
    PMPI_Group_free(&group);
    numbers++;
    PMPI_Comm_set_attr(comm, key, (void *)(intptr_t)numbers);
    start_record(RECORD_COMM, 1 + (size_t)size);
    word(numbers);
    for (int place = 0; place < size; place++)
        word(ranks[place]);
    end_record(start);
    free(places);
}

/* Defines a call that creates a communicator inside this program. */
#define CREATES(NAME, PARAMETERS, ARGUMENTS) \
    int MPI_##NAME PARAMETERS \
    { \
        struct clocks start = clocks(); \
        int error = PMPI_##NAME ARGUMENTS; \
        if (error == MPI_SUCCESS) \
            created(*new, start); \
        return error; \
    }

CREATES(Comm_dup, (MPI_Comm comm, MPI_Comm *new), (comm, new))
CREATES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *new), (comm, info, new))
CREATES(Comm_split, (MPI_Comm comm, int color, int rank, MPI_Comm *new), (comm, color, rank, new))
CREATES(Comm_split_type, (MPI_Comm comm, int type, int rank, MPI_Info info, MPI_Comm *new), (comm, type, rank, info, new))
CREATES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *new), (comm, group, new))
CREATES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *new), (comm, group, tag, new))
CREATES(Cart_create, (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *new),
    (comm, n, dims, periods, reorder, new))
CREATES(Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm *new), (comm, kept, new))
CREATES(Graph_create, (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *new),
    (comm, n, index, edges, reorder, new))
CREATES(Dist_graph_create, (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
    const int weights[], MPI_Info info, int reorder, MPI_Comm *new),
    (comm, n, sources, degrees, destinations, weights, info, reorder, new))
CREATES(Dist_graph_create_adjacent, (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
    const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *new),
    (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, new))
