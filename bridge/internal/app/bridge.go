package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/sluice-scheduler/sluice/bridge/internal/bind"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/mirror"
	"github.com/sluice-scheduler/sluice/bridge/internal/report"
	"github.com/sluice-scheduler/sluice/bridge/internal/usage"
)

// The bridge sends large batches, and the daemon may answer with as large ones.
const maxMessageBytes = 64 << 20

// How much the daemon may send ahead. Without a fixed size gRPC measures the
// path with a ping for each message.
const windowBytes = 1 << 20

// /healthz tolerates a leader for so long after its lease has ended. The
// components of Kubernetes do the same.
const watchdogTolerance = 20 * time.Second

// Bridge is the whole program.
type Bridge struct {
	options *Options
	// Each with limits of its own, so that events never delay binds.
	client, binding, recording kubernetes.Interface
	measured                   metricsclient.MetricsV1beta1Interface
	mirror                     *mirror.Mirror
	daemon                     *grpc.ClientConn

	registry metrics.KubeRegistry
	feeds    *feed.Metrics
	binds    *bind.Metrics
	reports  *report.Metrics
	usages   *usage.Metrics

	// The feed of the term that runs, or of a standby, for /readyz.
	telling atomic.Pointer[feed.Client]
	// Whether a leader renews its lease, for /healthz.
	watchdog *leaderelection.HealthzAdaptor
}

// New connects to nothing yet.
func New(options *Options) (*Bridge, error) {
	config, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("how to reach the API server: %w", err)
	}
	// kube-scheduler does the same. Each event of a watch would be compressed by
	// itself.
	config.DisableCompression = true
	b := &Bridge{options: options, registry: metrics.NewKubeRegistry(),
		watchdog: leaderelection.NewLeaderHealthzAdaptor(watchdogTolerance)}
	b.feeds = feed.NewMetrics(b.registry)
	b.binds = bind.NewMetrics(b.registry)
	b.reports = report.NewMetrics(b.registry)
	b.usages = usage.NewMetrics(b.registry)

	if b.client, err = newClient(config, "sluice-bridge", options.QPS, options.Burst); err != nil {
		return nil, err
	}
	if b.binding, err = newClient(config, "sluice-bridge-bind", options.BindQPS, options.BindBurst); err != nil {
		return nil, err
	}
	if b.recording, err = newClient(config, "sluice-bridge-events", options.QPS, options.Burst); err != nil {
		return nil, err
	}
	if b.measured, err = metricsclient.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "sluice-bridge-usage")); err != nil {
		return nil, fmt.Errorf("client for metrics: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for PodGroups: %w", err)
	}
	spread, err := parseSpread(options.DefaultSpread)
	if err != nil {
		return nil, fmt.Errorf("--default-spread: %w", err)
	}
	b.mirror, err = mirror.New(b.client, dynamicClient, b.client.Discovery(), options.Schedulers, spread)
	if err != nil {
		return nil, err
	}
	b.daemon, err = dialDaemon(options)
	return b, err
}

func newClient(config *rest.Config, agent string, qps float32, burst int) (kubernetes.Interface, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), agent)
	config.QPS, config.Burst = qps, burst
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	// Requests have no limit here: one that is cut off leaves its result unknown.
	config.Timeout = 0
	config.Wrap(bind.Punctual)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client %s: %w", agent, err)
	}
	return client, nil
}

func dialDaemon(options *Options) (*grpc.ClientConn, error) {
	secrets, err := daemonCredentials(options.DaemonTLSDirectory, options.DaemonTLSServerName)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(options.DaemonAddress,
		grpc.WithTransportCredentials(secrets),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithConnectParams(grpc.ConnectParams{
			MinConnectTimeout: 2 * time.Second,
			Backoff: backoff.Config{
				BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
		}))
	if err != nil {
		return nil, fmt.Errorf("daemon at %q: %w", options.DaemonAddress, err)
	}
	return connection, nil
}

// Run serves until ctx ends. Nothing else ends it but a port that is taken.
func (b *Bridge) Run(ctx context.Context) error {
	defer b.daemon.Close()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	// Last, when the context has ended: informers stop after those who use them.
	defer b.mirror.Stop()
	defer running.Wait()
	defer cancel()

	served := make(chan error, 1)
	running.Go(func() { served <- b.serveHTTP(ctx) })
	b.mirror.Start(ctx)
	running.Go(func() {
		if b.mirror.WaitForSync(ctx) {
			klog.FromContext(ctx).Info("The informers have synced")
			b.lead(ctx)
		}
	})
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return err
	}
}
