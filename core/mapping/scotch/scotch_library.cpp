// SPDX-License-Identifier: Apache-2.0
// Owners of Scotch's objects, and its errors as exceptions.
#include "mapping/scotch/scotch_library.hpp"

#include <cstdarg>
#include <string>
#include <utility>

#include "fairlead/error.hpp"

namespace {
thread_local std::string last_message;

void keep_message(const char* format, std::va_list arguments) {
  char text[256];
  if (std::vsnprintf(text, sizeof text, format, arguments) > 0) last_message = text;
}
}  // namespace

// Scotch reports by these three functions, which a program may supply instead of libscotcherr
// (Scotch user's guide, section 8.16): the message goes into the exception, not to stderr.
extern "C" {
[[gnu::visibility("default")]] void SCOTCH_errorProg(const char* /*program*/) {}

[[gnu::visibility("default")]] void SCOTCH_errorPrint(const char* const format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  keep_message(format, arguments);
  va_end(arguments);
}

[[gnu::visibility("default")]] void SCOTCH_errorPrintW(const char* const format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  keep_message(format, arguments);
  va_end(arguments);
}
}

namespace fairlead::scotch {
namespace {

std::mutex library_mutex;

// Recursive bipartitioning: each half by multilevel coarsening, greedy growing of the coarsest
// graph and refinement by moves (Scotch user's guide, section 8.3.2). Scotch's own string for
// quality stops coarsening at 120 vertices, which is for meshes: with 20, placements of 25 to 256
// ranks came out 6 % cheaper in the mean, the worst of them by half (docs/design/scotch.md).
constexpr const char* kRecursiveBipartitioning =
    "r{job=t,map=t,poli=S,bal=0.01,"
    "sep=m{vert=20,rat=0.8,low=h{pass=10}f{move=120,pass=-1,bal=0.01},"
    "asc=f{move=120,pass=-1,bal=0.01}}}";

// What Scotch itself allows when it is given no strategy, and what the string above has.
constexpr double kAllowedImbalance = 0.01;

}  // namespace

void check(int return_code, const char* doing) {
  if (return_code == 0) return;
  const std::string why = std::exchange(last_message, {});
  throw Error(std::string("Scotch failed to ") + doing + ": " +
              (why.empty() ? "it gave no reason" : why));
}

Context::Context() : lock_(library_mutex) {
  check(SCOTCH_contextInit(&context_), "start a context");
  check(SCOTCH_contextRandomClone(&context_), "start random numbers");
  check(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "keep to one thread");
}

Context::~Context() {
  SCOTCH_contextExit(&context_);
}

void Context::restart_random(std::uint32_t seed) {
  SCOTCH_contextRandomSeed(&context_, static_cast<SCOTCH_Num>(seed & 0x7fffffffU));
  SCOTCH_contextRandomReset(&context_);
}

Graph::Graph(Context& context, std::vector<SCOTCH_Num> vertex_weights,
             std::vector<SCOTCH_Num> first_arc, std::vector<SCOTCH_Num> ends,
             std::vector<SCOTCH_Num> edge_weights)
    : vertex_weights_(std::move(vertex_weights)),
      first_arc_(std::move(first_arc)),
      ends_(std::move(ends)),
      edge_weights_(std::move(edge_weights)) {
  check(SCOTCH_graphInit(&graph_), "start a graph");
  check(SCOTCH_graphInit(&bound_), "start a graph");
  check(
      SCOTCH_graphBuild(&graph_, 0, static_cast<SCOTCH_Num>(vertex_weights_.size()),
                        first_arc_.data(), nullptr, vertex_weights_.data(), nullptr,
                        static_cast<SCOTCH_Num>(ends_.size()), ends_.data(), edge_weights_.data()),
      "build a graph");
  check(SCOTCH_contextBindGraph(context.handle(), &graph_, &bound_), "bind a graph");
}

Graph::~Graph() {
  SCOTCH_graphExit(&bound_);
  SCOTCH_graphExit(&graph_);
}

Strategy::Strategy(Settings settings, std::size_t num_targets) {
  check(SCOTCH_stratInit(&strategy_), "start a strategy");
  switch (settings) {
    case Settings::for_small_graphs:
      check(SCOTCH_stratGraphMap(&strategy_, kRecursiveBipartitioning), "read a strategy");
      break;
    case Settings::recursive_bipartitioning:
      check(SCOTCH_stratGraphMapBuild(&strategy_, SCOTCH_STRATRECURSIVE,
                                      static_cast<SCOTCH_Num>(num_targets), kAllowedImbalance),
            "build a strategy");
      break;
    case Settings::by_default:
      break;  // SCOTCH_graphMap fills in an empty strategy
  }
}

Strategy::~Strategy() {
  SCOTCH_stratExit(&strategy_);
}

Architecture::Architecture(Graph& hosts) {
  SCOTCH_Strat by_default;
  check(SCOTCH_stratInit(&by_default), "start a strategy");
  check(SCOTCH_archInit(&architecture_), "start an architecture");
  const int built = SCOTCH_archBuild0(&architecture_, hosts.handle(), 0, nullptr, &by_default);
  SCOTCH_stratExit(&by_default);
  check(built, "build an architecture of the hosts");
}

Architecture::~Architecture() {
  SCOTCH_archExit(&architecture_);
}

std::vector<std::int64_t> map(Graph& ranks, Architecture& hosts, Strategy& strategy) {
  std::vector<SCOTCH_Num> host_of_vertex(ranks.num_vertices(), 0);
  check(SCOTCH_graphMap(ranks.handle(), hosts.handle(), strategy.handle(), host_of_vertex.data()),
        "map ranks to hosts");
  return {host_of_vertex.begin(), host_of_vertex.end()};
}

}  // namespace fairlead::scotch
