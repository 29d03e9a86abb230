// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What queueing theory says about queues, as functions of the load (0 to 1, the
// arrival rate times the mean service time, per server). Times are in mean
// service times; a response time includes the service.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_THEORY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_THEORY_H_

#include <cstdint>
#include <vector>

namespace distbench::simulation {

// What is known of a queue's response times. 0: there is no formula.
struct QueueTheory {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
};

// L. Kleinrock, Queueing Systems, volume 1, 1975: 3.2 and 5.8 (M/M/1, whose
// response times are exponential), 3.5 (M/M/c, Erlang's C), 5.7 (M/G/1, the
// mean by Pollaczek and Khinchine).
QueueTheory MM1(double load);
QueueTheory MMc(double load, int servers);

// Each service time is one of these, equally likely; their mean is 1. The
// quantiles are those of Lindley's recursion over `count` requests, which is a
// simulation, too, but of three lines.
QueueTheory MG1(double load, const std::vector<double>& service_times,
                int64_t count);

// A. K. Erlang, 1909: the distribution of the waiting time of M/D/1.
QueueTheory MD1(double load);

// Processor sharing: the mean depends on the mean service time only (L.
// Kleinrock, Queueing Systems, volume 2, 1976, 4.4), so that it is that of
// M/M/c; with several servers, too, of which a request uses one at most (J. W.
// Cohen, The multiple phase service network with generalized processor sharing,
// Acta Informatica 12, 1979).
QueueTheory ProcessorSharing(double load, int servers);

// The mean time until the last of `servers` M/M/1 queues has answered, of
// requests that each sends to all of them at once. Exact for two (L. Flatto and
// S. Hahn, Two parallel queues created by arrivals with two demands, SIAM J.
// Appl. Math. 44, 1984); otherwise an approximation that its authors found
// within 5 % (R. Nelson and A. N. Tantawi, Approximate analysis of fork/join
// synchronization in parallel queues, IEEE Trans. Computers 37, 1988).
double ForkJoin(double load, int servers);

// Bounds of the same: that of one queue, and of as many independent ones (which
// is an upper bound: the queues' times are associated, by the same arrivals).
double ForkJoinLowerBound(double load);
double ForkJoinUpperBound(double load, int servers);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_THEORY_H_
