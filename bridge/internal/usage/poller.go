// Package usage asks the metrics API (metrics-server, or what else serves
// metrics.k8s.io) what nodes and pods use, and hands it to the daemon.
package usage

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// Cluster is what samples are about.
type Cluster interface {
	// Node returns nil if there is no node of that name.
	Node(name string) *corev1.Node
	// Pod returns nil if the pod is gone.
	Pod(key string) *corev1.Pod
}

// Poller asks at intervals.
type Poller struct {
	Client   metricsclient.MetricsV1beta1Interface
	Cluster  Cluster
	Sink     func(feed.Usage)
	Interval time.Duration
	Metrics  *Metrics
}

// Run polls until ctx ends. Where nobody serves metrics it polls less often, and
// never gives up: a metrics-server may come at any time.
func (p *Poller) Run(ctx context.Context) {
	logger := klog.FromContext(ctx).WithName("usage")
	backoff := p.newBackoff()
	wasServed := true
	for {
		usage, err := p.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		pause := wait.Jitter(p.Interval, 0.1)
		if err == nil {
			p.Metrics.polls.WithLabelValues("success").Inc()
			p.Sink(usage)
			backoff = p.newBackoff()
		} else {
			p.Metrics.polls.WithLabelValues("error").Inc()
			pause = backoff.Step()
			if wasServed {
				logger.Info("metrics.k8s.io unavailable; still polling", "err", err)
			}
		}
		wasServed = err == nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (p *Poller) newBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: p.Interval, Factor: 2, Jitter: 0.1, Steps: 6, Cap: max(p.Interval, 10*time.Minute)}
}

func (p *Poller) poll(ctx context.Context) (feed.Usage, error) {
	// A request that hangs must not keep the poller from the next one.
	ctx, cancel := context.WithTimeout(ctx, max(p.Interval, time.Second))
	defer cancel()
	nodes, err := p.Client.NodeMetricses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return feed.Usage{}, err
	}
	pods, err := p.Client.PodMetricses(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return feed.Usage{}, err
	}
	var usage feed.Usage
	for i := range nodes.Items {
		if sample := p.ofNode(&nodes.Items[i]); sample != nil {
			usage.Machines = append(usage.Machines, sample)
		}
	}
	for i := range pods.Items {
		if sample := p.ofPod(&pods.Items[i]); sample != nil {
			usage.Tasks = append(usage.Tasks, sample)
		}
	}
	return usage, nil
}

// ofNode returns nil for a node that is gone or has no capacity.
func (p *Poller) ofNode(sample *metricsv1beta1.NodeMetrics) *firmament.ResourceStats {
	node := p.Cluster.Node(sample.Name)
	if node == nil {
		return nil
	}
	capacity, allocatable := node.Status.Capacity, node.Status.Allocatable
	cpu, memory := capacity.Cpu().MilliValue(), capacity.Memory().Value()
	if cpu <= 0 || memory <= 0 {
		return nil
	}
	return &firmament.ResourceStats{
		ResourceId: node.Name,
		CpusStats: []*firmament.CpuStats{{
			CpuCapacity:    cpu,
			CpuAllocatable: allocatable.Cpu().MilliValue(),
			CpuUtilization: float64(sample.Usage.Cpu().MilliValue()) / float64(cpu),
		}},
		MemCapacity:    kilobytes(capacity.Memory()),
		MemAllocatable: kilobytes(allocatable.Memory()),
		MemUtilization: float64(sample.Usage.Memory().Value()) / float64(memory),
	}
}

// ofPod returns nil for a pod that is gone or not bound.
func (p *Poller) ofPod(sample *metricsv1beta1.PodMetrics) *sluicev1.TaskUsage {
	pod := p.Cluster.Pod(sample.Namespace + "/" + sample.Name)
	if pod == nil || pod.Spec.NodeName == "" {
		return nil
	}
	stats := &firmament.TaskStats{Hostname: pod.Spec.NodeName}
	for i := range sample.Containers {
		stats.CpuUsage += sample.Containers[i].Usage.Cpu().MilliValue()
		stats.MemWorkingSet += kilobytes(sample.Containers[i].Usage.Memory())
	}
	return &sluicev1.TaskUsage{Id: string(pod.UID), Stats: stats}
}

// kilobytes are 1,024 bytes each, as the daemon reads them.
func kilobytes(quantity *resource.Quantity) int64 { return quantity.Value() / 1024 }
