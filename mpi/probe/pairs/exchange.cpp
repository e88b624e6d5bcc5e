// SPDX-License-Identifier: Apache-2.0
// Round trips and trains, each with a bounded wait.
#include "pairs/exchange.hpp"

#include <sched.h>

#include <algorithm>

namespace fairlead::probe {
namespace {

std::size_t largest_bytes(const Recipe& recipe) {
  return static_cast<std::size_t>(
      std::max(std::int64_t{recipe.window} * recipe.messages_per_train * recipe.message_bytes,
               recipe.round_trip_bytes));
}

}  // namespace

Exchange::Exchange(MPI_Comm comm, const Options& options, ControlChannel& control, bool yields)
    : comm_(comm),
      recipe_(options.recipe),
      silence_timeout_s_(options.silence_timeout_s),
      control_(control),
      yields_(yields),
      out_(largest_bytes(recipe_), std::byte{1}),
      in_(largest_bytes(recipe_)),
      requests_(static_cast<std::size_t>(recipe_.window * recipe_.messages_per_train),
                MPI_REQUEST_NULL) {}

Durations Exchange::round_trips(int partner, int count) {
  if (!command(partner, {Exercise::round_trips, count, recipe_.round_trip_bytes})) return {};
  const auto bytes = static_cast<std::size_t>(recipe_.round_trip_bytes);
  std::vector<double> durations_s;
  for (int i = 0; i < count; ++i) {
    const double begin_s = now_s();
    if (!send(partner, data_tag, out_.data(), bytes)) return {};
    if (!receive(partner, data_tag, in_.data(), bytes)) return {};
    durations_s.push_back((now_s() - begin_s) / 2);
  }
  return durations_s;
}

Durations Exchange::push(int partner, int count, std::int64_t message_bytes) {
  const Command wanted{Exercise::push, count, message_bytes};
  std::vector<double> durations_s(static_cast<std::size_t>(count));
  if (command(partner, wanted) && send_trains(partner, wanted) &&
      receive(partner, answer_tag, durations_s.data(), durations_s.size() * sizeof(double))) {
    return durations_s;
  }
  return {};
}

Durations Exchange::pull(int partner, int count, std::int64_t message_bytes) {
  const Command wanted{Exercise::pull, count, message_bytes};
  if (!command(partner, wanted)) return {};
  return receive_trains(partner, wanted);
}

bool Exchange::finish(int partner, const void* result, std::size_t result_bytes) {
  return command(partner, {Exercise::finish, 0, 0}) &&
         send(partner, answer_tag, result, result_bytes);
}

bool Exchange::follow(int leader, void* result, std::size_t result_bytes) {
  for (;;) {
    answer_others(now_s());
    Command wanted{};
    if (!receive(leader, command_tag, &wanted, sizeof wanted)) return false;
    switch (wanted.exercise) {
      case Exercise::round_trips:
        if (!echo(leader, wanted.count)) return false;
        break;
      case Exercise::push: {
        const Durations durations_s = receive_trains(leader, wanted);
        if (!durations_s ||
            !send(leader, answer_tag, durations_s->data(), durations_s->size() * sizeof(double))) {
          return false;
        }
        break;
      }
      case Exercise::pull:
        if (!send_trains(leader, wanted)) return false;
        break;
      case Exercise::finish:
        return receive(leader, answer_tag, result, result_bytes);
    }
  }
}

bool Exchange::command(int partner, const Command& wanted) {
  answer_others(now_s());
  return send(partner, command_tag, &wanted, sizeof wanted);
}

bool Exchange::echo(int partner, int count) {
  const auto bytes = static_cast<std::size_t>(recipe_.round_trip_bytes);
  for (int i = 0; i < count; ++i) {
    if (!receive(partner, data_tag, in_.data(), bytes)) return false;
    if (!send(partner, data_tag, out_.data(), bytes)) return false;
  }
  return true;
}

bool Exchange::send_trains(int partner, const Command& wanted) {
  abandon_requests();
  const int num_trains = wanted.count + recipe_.num_lead_trains;
  for (int train = 0; train < num_trains; ++train) {
    std::byte call{};
    if (!receive(partner, answer_tag, &call, sizeof call)) return false;
    if (!complete_all(requests_of(train))) return false;
    const Train sent = train_at(train, wanted.message_bytes);
    for (MPI_Request& request : sent.requests) {
      MPI_Isend(out_.data(), static_cast<int>(sent.message_bytes), MPI_BYTE, partner, data_tag,
                comm_, &request);
      sent_bytes_ += static_cast<std::uint64_t>(sent.message_bytes);
    }
  }
  return complete_all(requests_);
}

Durations Exchange::receive_trains(int partner, const Command& wanted) {
  abandon_requests();
  const int num_trains = wanted.count + recipe_.num_lead_trains;
  std::vector<double> durations_s;
  double begin_s = now_s();
  for (int train = 0; train < recipe_.window; ++train) {
    if (!call_train(partner, train, wanted.message_bytes)) return {};
  }
  for (int train = 0; train < num_trains; ++train) {
    if (!complete_all(requests_of(train))) return {};
    const double end_s = now_s();
    if (train >= recipe_.num_lead_trains) durations_s.push_back(end_s - begin_s);
    begin_s = end_s;
    const int next = train + recipe_.window;
    if (next < num_trains && !call_train(partner, next, wanted.message_bytes)) return {};
  }
  return durations_s;
}

bool Exchange::call_train(int partner, int train, std::int64_t message_bytes) {
  // All receives are posted before the call, so that no message is unexpected and copied twice.
  const std::size_t train_bytes = in_.size() / static_cast<std::size_t>(recipe_.window);
  std::byte* place = in_.data() + static_cast<std::size_t>(train % recipe_.window) * train_bytes;
  const Train called = train_at(train, message_bytes);
  for (MPI_Request& request : called.requests) {
    MPI_Irecv(place, static_cast<int>(called.message_bytes), MPI_BYTE, partner, data_tag, comm_,
              &request);
    place += called.message_bytes;
  }
  const std::byte call{};
  return send(partner, answer_tag, &call, sizeof call);
}

void Exchange::abandon_requests() {
  // After a partner was given up, its requests are still under way; they are left to MPI.
  std::fill(requests_.begin(), requests_.end(), MPI_REQUEST_NULL);
}

Exchange::Train Exchange::train_at(int train, std::int64_t message_bytes) {
  const auto requests = requests_of(train);
  if (train >= recipe_.num_lead_trains) return {requests, message_bytes};
  return {requests.first(1), static_cast<std::int64_t>(requests.size()) * message_bytes};
}

std::span<MPI_Request> Exchange::requests_of(int train) {
  const auto size = static_cast<std::size_t>(recipe_.messages_per_train);
  return std::span(requests_).subspan(static_cast<std::size_t>(train % recipe_.window) * size,
                                      size);
}

bool Exchange::complete_all(std::span<MPI_Request> requests) {
  return std::all_of(requests.begin(), requests.end(),
                     [this](MPI_Request& request) { return complete(request); });
}

bool Exchange::send(int dst, Tag tag, const void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  sent_bytes_ += bytes;
  return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, dst, tag, comm_, &request) ==
             MPI_SUCCESS &&
         complete(request);
}

bool Exchange::receive(int src, Tag tag, void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, src, tag, comm_, &request) !=
      MPI_SUCCESS) {
    return false;
  }
  if (complete(request)) return true;
  // The caller's memory will be freed: later messages must not be written there.
  if (request != MPI_REQUEST_NULL) {
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
  return false;
}

bool Exchange::complete(MPI_Request& request) {
  // The clock and the control channel are checked rarely, so as not to disturb the timing.
  constexpr int kSpinsPerLook = 64;
  const double begin_s = now_s();
  for (int spins = 1;; ++spins) {
    int is_complete = 0;
    if (MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_complete != 0) return true;
    if (yields_) sched_yield();
    if (spins % kSpinsPerLook != 0) continue;
    const double time_s = now_s();
    if (time_s - begin_s > silence_timeout_s_) return false;
    answer_others(time_s);
  }
}

void Exchange::answer_others(double time_s) {
  constexpr double kInterval_s = 0.01;
  if (time_s - answered_s_ < kInterval_s) return;
  control_.poll();
  answered_s_ = time_s;
}

}  // namespace fairlead::probe
