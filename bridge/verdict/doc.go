// Package verdict asks kube-scheduler's own filters about the placements of
// Sluice. It is a module of its own, since k8s.io/kubernetes is no library.
package verdict
