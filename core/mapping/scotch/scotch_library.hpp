// SPDX-License-Identifier: Apache-2.0
// Owners of Scotch's objects, and its errors as exceptions.
#pragma once

// clang-format off: upstream's scotch.h needs what it does not include.
#include <cstdint>
#include <cstdio>

#include <scotch.h>
// clang-format on

#include <mutex>
#include <vector>

#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/rank_graph.hpp"

namespace fairlead::scotch {

static_assert(sizeof(SCOTCH_Num) >= sizeof(std::int32_t));

/// Throws Error with Scotch's own message where `return_code` is not 0.
void check(int return_code, const char* doing);

/// One thread and one sequence of random numbers for all calls of Scotch. Without it Scotch starts
/// a thread for each core in each call, whose barriers cost more than they save at the size of a
/// placement, and many times more on a busy machine. Other callers wait until it is destroyed.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Context(Context&&) = delete;
  Context& operator=(Context&&) = delete;

  void restart_random(std::uint32_t seed);
  [[nodiscard]] SCOTCH_Context* handle() { return &context_; }

 private:
  std::scoped_lock<std::mutex> lock_;
  SCOTCH_Context context_;
};

/// A graph with weights on vertices and edges; Scotch refers to the arrays kept here.
class Graph {
 public:
  /// @param context  outlives the graph
  /// @param vertex_weights  one for each vertex, each >= 1
  /// @param first_arc  length of vertex_weights + 1
  /// @param ends,edge_weights  of each arc
  Graph(Context& context, std::vector<SCOTCH_Num> vertex_weights, std::vector<SCOTCH_Num> first_arc,
        std::vector<SCOTCH_Num> ends, std::vector<SCOTCH_Num> edge_weights);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = delete;
  Graph& operator=(Graph&&) = delete;

  [[nodiscard]] SCOTCH_Graph* handle() { return &bound_; }
  [[nodiscard]] std::size_t num_vertices() const { return vertex_weights_.size(); }

 private:
  std::vector<SCOTCH_Num> vertex_weights_, first_arc_, ends_, edge_weights_;
  SCOTCH_Graph graph_;
  SCOTCH_Graph bound_;  // the same graph, in the context
};

/// How Scotch maps.
class Strategy {
 public:
  enum class Settings {
    for_small_graphs,          ///< recursive bipartitioning, tuned for graphs as small as ours
    recursive_bipartitioning,  ///< Scotch's own settings of it
    by_default,                ///< what SCOTCH_graphMap does without a strategy
  };

  /// @param num_targets  hosts or cores, on which Scotch's own settings depend
  Strategy(Settings settings, std::size_t num_targets);
  ~Strategy();
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  Strategy(Strategy&&) = delete;
  Strategy& operator=(Strategy&&) = delete;

  [[nodiscard]] SCOTCH_Strat* handle() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

/// Decomposition-defined architecture: hosts with capacities and distances, bisected recursively so
/// that near hosts stay together.
class Architecture {
 public:
  explicit Architecture(Graph& hosts);
  ~Architecture();
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
  Architecture(Architecture&&) = delete;
  Architecture& operator=(Architecture&&) = delete;

  [[nodiscard]] SCOTCH_Arch* handle() { return &architecture_; }

 private:
  SCOTCH_Arch architecture_;
};

/// Host of each vertex.
[[nodiscard]] std::vector<std::int64_t> map(Graph& ranks, Architecture& hosts, Strategy& strategy);

}  // namespace fairlead::scotch
