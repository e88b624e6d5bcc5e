// SPDX-License-Identifier: Apache-2.0
// Makes topologies of many kinds on three communicators and prints all that can be asked about
// them: one line per topology and process. Usage: reorder MAY_REORDER [TOPOLOGY | one-wrong]
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMax = 64, kReport = 1 << 16 };

static char facts[4096];
static char report[kReport];

static void print_text(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const size_t length = strlen(facts);
  vsnprintf(facts + length, sizeof facts - length, format, values);
  va_end(values);
}

static void print_all(const char* name, int count, const int* values) {
  print_text(" %s=", name);
  for (int i = 0; i < count; ++i) print_text("%s%d", i ? "," : "", values[i]);
}

static void ignore_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

/* The edges of one node: a heavy partner half-way round, a light ring, a message to itself, and the
   heavy edge once more. The last of many nodes is isolated. */
static int edges_of(int node, int size, int* destinations, int* weights) {
  const int nodes = size > 2 ? size - 1 : size;
  int count = 0;
  if (node >= nodes) return 0;
  const int partner = (node + nodes / 2) % nodes;
  const int next = (node + 1) % nodes;
  destinations[count] = partner, weights[count++] = 100 + node;
  destinations[count] = next, weights[count++] = 1;
  if (node % 3 == 0) destinations[count] = node, weights[count++] = 7;
  destinations[count] = partner, weights[count++] = 50;
  return count;
}

static int cart(MPI_Comm old, int num_dimensions, int* dims, int periodic, int reorder,
                MPI_Comm* comm) {
  int periods[3] = {periodic, 0, periodic};
  return MPI_Cart_create(old, num_dimensions, dims, periods, reorder, comm);
}

/* Every rank names the edges of the next node: anyone may name any edge. */
static int graph(MPI_Comm old, int weighted, int reorder, MPI_Comm* comm) {
  int rank, size, destinations[kMax], weights[kMax];
  MPI_Comm_rank(old, &rank);
  MPI_Comm_size(old, &size);
  int source = (rank + 1) % size;
  int degree = edges_of(source, size, destinations, weights);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  const int code = MPI_Dist_graph_create(old, degree > 0, &source, &degree, destinations,
                                         !weighted    ? MPI_UNWEIGHTED
                                         : degree > 0 ? weights
                                                      : MPI_WEIGHTS_EMPTY,
                                         info, reorder, comm);
  MPI_Info_free(&info);
  return code;
}

static int adjacent(MPI_Comm old, int weighted, int reorder, MPI_Comm* comm) {
  int rank, size, out[kMax], out_weights[kMax], in[kMax], in_weights[kMax], num_in = 0;
  MPI_Comm_rank(old, &rank);
  MPI_Comm_size(old, &size);
  const int num_out = edges_of(rank, size, out, out_weights);
  for (int node = size - 1; node >= 0; --node) {
    int destinations[kMax], weights[kMax];
    const int degree = edges_of(node, size, destinations, weights);
    for (int i = 0; i < degree; ++i)
      if (destinations[i] == rank) in[num_in] = node, in_weights[num_in++] = weights[i];
  }
  return MPI_Dist_graph_create_adjacent(old, num_in, in,
                                        !weighted    ? MPI_UNWEIGHTED
                                        : num_in > 0 ? in_weights
                                                     : MPI_WEIGHTS_EMPTY,
                                        num_out, out,
                                        !weighted     ? MPI_UNWEIGHTED
                                        : num_out > 0 ? out_weights
                                                      : MPI_WEIGHTS_EMPTY,
                                        MPI_INFO_NULL, reorder, comm);
}

static int no_edges(MPI_Comm old, int reorder, MPI_Comm* comm) {
  return MPI_Dist_graph_create_adjacent(old, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                        MPI_INFO_NULL, reorder, comm);
}

static void print_grid(MPI_Comm comm, int rank) {
  int num_dimensions, dims[kMax], periods[kMax], coordinates[kMax], again;
  MPI_Cartdim_get(comm, &num_dimensions);
  MPI_Cart_get(comm, num_dimensions, dims, periods, coordinates);
  print_all("dims", num_dimensions, dims);
  print_all("periods", num_dimensions, periods);
  print_all("own", num_dimensions, coordinates);
  MPI_Cart_coords(comm, rank, num_dimensions, coordinates);
  print_all("coords", num_dimensions, coordinates);
  MPI_Cart_rank(comm, coordinates, &again);
  print_text(" rank=%d", again);
  for (int d = 0; d < num_dimensions; ++d) {
    int shift[2];
    MPI_Cart_shift(comm, d, 1, &shift[0], &shift[1]);
    print_all("shift", 2, shift);
  }
  if (num_dimensions > 0) {
    int keep[3] = {0, 1, 0}, sub_rank, sub_size;
    MPI_Comm sub;
    MPI_Cart_sub(comm, keep, &sub);
    MPI_Comm_rank(sub, &sub_rank);
    MPI_Comm_size(sub, &sub_size);
    print_text(" sub=%d/%d", sub_rank, sub_size);
    MPI_Comm_free(&sub);
  }
}

static void print_graph(MPI_Comm comm) {
  int num_in, num_out, weighted, in[kMax], in_weights[kMax], out[kMax], out_weights[kMax];
  MPI_Dist_graph_neighbors_count(comm, &num_in, &num_out, &weighted);
  print_text(" weighted=%d", weighted);
  MPI_Dist_graph_neighbors(comm, num_in, in, weighted ? in_weights : MPI_UNWEIGHTED, num_out, out,
                           weighted ? out_weights : MPI_UNWEIGHTED);
  print_all("in", num_in, in);
  print_all("out", num_out, out);
  if (weighted) {
    print_all("in_weights", num_in, in_weights);
    print_all("out_weights", num_out, out_weights);
  }
}

/* Each process hands its new rank to all its neighbours. */
static void print_exchange(MPI_Comm comm, int rank, int topology) {
  int received[kMax], degree = 0;
  for (int i = 0; i < kMax; ++i) received[i] = -5;
  if (topology == MPI_CART) {
    MPI_Cartdim_get(comm, &degree);
    degree *= 2;
  } else {
    int num_out, weighted;
    MPI_Dist_graph_neighbors_count(comm, &degree, &num_out, &weighted);
  }
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, received, 1, MPI_INT, comm);
  print_all("received", degree, received);
}

static void print_properties(MPI_Comm comm, MPI_Errhandler expected, int keyval) {
  int length, has_attribute, num_keys;
  char name[MPI_MAX_OBJECT_NAME];
  void* value;
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(comm, &handler);
  print_text(" handler=%d", handler == expected);
  MPI_Errhandler_free(&handler);
  MPI_Comm_get_attr(comm, keyval, &value, &has_attribute);
  print_text(" attribute=%d", has_attribute);
  MPI_Comm_get_name(comm, name, &length);
  print_text(" named=%d", length > 0);
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get_nkeys(info, &num_keys);
  for (int i = 0; i < num_keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    int is_there;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &is_there);
    print_text(" info:%s=%s", key, text);
  }
  MPI_Info_free(&info);
}

/* The world itself, its halves in reverse order, or an intercommunicator between these. */
static MPI_Comm chosen(const char* name) {
  MPI_Comm half, comm;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "world") == 0) return MPI_COMM_WORLD;
  if (strcmp(name, "dup") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  if (strcmp(name, "split") == 0 || size == 1) return half;
  const int last = size - 1;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, last % 2 != rank % 2 ? last : last - 1, 0, &comm);
  MPI_Comm_free(&half);
  return comm;
}

static int make(const char* kind, MPI_Comm old, int reorder, MPI_Comm* comm) {
  int rank, size, dims[3] = {0, 0, 1};
  MPI_Comm_rank(old, &rank);
  MPI_Comm_size(old, &size);
  if (strcmp(kind, "grid") == 0 || strcmp(kind, "torus") == 0) {
    MPI_Dims_create(size, 2, dims);
    return cart(old, 3, dims, kind[0] == 't', reorder, comm);
  }
  if (strcmp(kind, "smaller") == 0) {
    dims[0] = 1, dims[1] = size > 1 ? size - 1 : 1;
    return cart(old, 3, dims, 1, reorder, comm);
  }
  if (strcmp(kind, "too-large") == 0) {
    dims[0] = size + 1, dims[1] = 1;
    return cart(old, 3, dims, 0, reorder, comm);
  }
  if (strcmp(kind, "point") == 0) return cart(old, 0, dims, 0, reorder, comm);
  if (strcmp(kind, "graph") == 0) return graph(old, 1, reorder, comm);
  if (strcmp(kind, "graph-unweighted") == 0) return graph(old, 0, reorder, comm);
  if (strcmp(kind, "adjacent") == 0) return adjacent(old, 1, reorder, comm);
  if (strcmp(kind, "adjacent-unweighted") == 0) return adjacent(old, 0, reorder, comm);
  if (strcmp(kind, "no-edges") == 0) return no_edges(old, reorder, comm);
  return MPI_ERR_OTHER;
}

/* A rank that does not exist: only the last process has a wrong argument. */
static void try_one_wrong(int reorder) {
  int rank, size;
  MPI_Comm comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int dest = rank == size - 1 ? size : rank;
  const int code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 1, &dest,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm);
  // Such a call is erroneous, so the others may get their topology or wait for ever.
  if (rank < size - 1) sleep(60);
  printf("one-wrong: rank %d refused=%d\n", rank, code != MPI_SUCCESS);
  fflush(stdout);
  sleep(1);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void try_one(const char* name, const char* kind, int reorder, MPI_Errhandler handler,
                    int keyval) {
  int world_rank, rank, size, new_rank = -1, topology = MPI_UNDEFINED;
  char host[256];
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  gethostname(host, sizeof host);
  MPI_Comm old = chosen(name), comm = MPI_COMM_NULL;
  MPI_Comm_rank(old, &rank);
  MPI_Comm_set_errhandler(old, handler);
  MPI_Comm_set_attr(old, keyval, &world_rank);

  facts[0] = '\0';
  const int code = make(kind, old, reorder, &comm);
  print_text(" failed=%d", code != MPI_SUCCESS);
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &new_rank);
    MPI_Comm_size(comm, &size);
    MPI_Topo_test(comm, &topology);
    print_text(" size=%d kind=%s", size, topology == MPI_CART ? "cart" : "graph");
    if (topology == MPI_CART) print_grid(comm, new_rank);
    if (topology == MPI_DIST_GRAPH) print_graph(comm);
    if (strcmp(kind, "point") != 0) print_exchange(comm, new_rank, topology);
    print_properties(comm, handler, keyval);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_delete_attr(old, keyval);
  if (old != MPI_COMM_WORLD) MPI_Comm_free(&old);
  const size_t length = strlen(report);
  snprintf(report + length, kReport - length, "%s %s %d %d %d %s%s\n", name, kind, world_rank, rank,
           new_rank, host, facts);
}

/* One process prints all: a launcher mixes the lines of several. */
static void print_reports(void) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const all = rank == 0 ? malloc((size_t)size * kReport) : NULL;
  MPI_Gather(report, kReport, MPI_CHAR, all, kReport, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < size && rank == 0; ++i) fputs(all + (size_t)i * kReport, stdout);
  free(all);
}

int main(int argc, char** argv) {
  const char* const names[] = {"world", "dup", "split"};
  const char* const kinds[] = {
      "grid",  "torus",    "smaller",          "too-large", "point",
      "graph", "adjacent", "graph-unweighted", "no-edges",  "adjacent-unweighted"};
  int keyval;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  const int reorder = atoi(argv[1]);
  const char* const only = argc > 2 ? argv[2] : NULL;
  if (only && strcmp(only, "one-wrong") == 0) try_one_wrong(reorder);
  MPI_Comm_create_errhandler(ignore_error, &handler);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
      if (!only || strcmp(only, kinds[k]) == 0)
        try_one(names[n], kinds[k], reorder, handler, keyval);
  if (!only) try_one("inter", "grid", reorder, handler, keyval);
  print_reports();
  MPI_Finalize();
  return 0;
}
