/* The begin and the end of a recording. */
#include "record.h"

void opened(void)
{
    start_communicators();
    open_file();
}

void closing(void)
{
    end_communicators();
    close_file();
}

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    opened();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    int error = PMPI_Init_thread(argc, argv, wanted, provided);
    opened();
    return error;
}

int MPI_Finalize(void)
{
    closing();
    return PMPI_Finalize();
}

