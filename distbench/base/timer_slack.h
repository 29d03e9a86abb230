#ifndef DISTBENCH_BASE_TIMER_SLACK_H_
#define DISTBENCH_BASE_TIMER_SLACK_H_

namespace distbench {

// Makes the calling thread's waits end when they are due. By default Linux lets
// them end up to 50 us later, so that it can wake several threads at once.
void DisableTimerSlack();

}  // namespace distbench

#endif  // DISTBENCH_BASE_TIMER_SLACK_H_
