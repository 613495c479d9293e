// Package report tells the people who made a pod what became of it: by events,
// by the condition PodScheduled, on which the cluster autoscaler acts, and by
// metrics that go by kube-scheduler's names where they mean the same.
package report
