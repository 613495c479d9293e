package app

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cliflag "k8s.io/component-base/cli/flag"
	componentbaseconfig "k8s.io/component-base/config"
	configoptions "k8s.io/component-base/config/options"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// Options of the bridge, each a flag.
type Options struct {
	Kubeconfig    string
	DaemonAddress string
	// Empty: plain text.
	DaemonTLSDirectory  string
	DaemonTLSServerName string
	Feed                string
	Schedulers          []string
	DefaultSpread       string

	BindQPS     float32
	BindBurst   int
	BindWorkers int
	QPS         float32
	Burst       int

	UsageInterval time.Duration // 0: never

	// The daemon is this replica's own, and is kept warm while another leads.
	Standby bool
	// The name of this replica's pod; empty: it has none.
	PodName string

	HTTPAddress    string
	Profiling      bool
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
	Logs           *logsapi.LoggingConfiguration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		DaemonAddress: "127.0.0.1:9090",
		Feed:          "kubernetes",
		Schedulers:    []string{"sluice"},
		DefaultSpread: systemSpread,
		BindQPS:       500,
		BindBurst:     1000,
		BindWorkers:   32,
		QPS:           100,
		Burst:         200,
		UsageInterval: time.Minute,
		PodName:       os.Getenv("POD_NAME"),
		HTTPAddress:   ":9092",
		LeaderElection: componentbaseconfig.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      "leases",
			ResourceName:      "sluice-bridge",
			ResourceNamespace: namespace(),
		},
		Logs: logsapi.NewLoggingConfiguration(),
	}
}

// namespace is that of the pod in which the bridge runs.
func namespace() string {
	if name := os.Getenv("POD_NAMESPACE"); name != "" {
		return name
	}
	return "kube-system"
}

// Flags groups the flags for --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.addBridgeFlags(sets.FlagSet("bridge"))
	o.addClientFlags(sets.FlagSet("API server"))
	configoptions.BindLeaderElectionFlags(&o.LeaderElection, sets.FlagSet("leader election"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("logs"))
	return sets
}

func (o *Options) addBridgeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.DaemonAddress, "daemon-address", o.DaemonAddress,
		"Where sluiced serves gRPC, as HOST:PORT or a gRPC target.")
	flags.StringVar(&o.DaemonTLSDirectory, "daemon-tls-directory", o.DaemonTLSDirectory,
		"Directory with ca.crt, and tls.crt and tls.key if need be, by which the bridge speaks TLS to the daemon, or to whoever stands before it; read anew for each connection; empty: plain text.")
	flags.StringVar(&o.DaemonTLSServerName, "daemon-tls-server-name", o.DaemonTLSServerName,
		"The name in the certificate of the other side; empty: that of the address.")
	flags.StringVar(&o.Feed, "feed", o.Feed,
		"The name under which this cluster is stated to the daemon. Two clusters of one daemon need two.")
	flags.StringSliceVar(&o.Schedulers, "scheduler-name", o.Schedulers,
		"Pods with this spec.schedulerName are scheduled. May be given several times.")
	flags.StringVar(&o.DefaultSpread, "default-spread", o.DefaultSpread,
		"How pods are spread that have no topologySpreadConstraints, among those that their services and their controller select: "+
			systemSpread+", which is "+systemConstraints+", as kube-scheduler does; other topology keys with a skew each, as KEY=SKEW,KEY=SKEW; or "+noSpread+".")
	flags.BoolVar(&o.Standby, "standby", o.Standby,
		"The daemon is this replica's own: it is told everything while another replica leads, too, and decides at once when this one does.")
	flags.StringVar(&o.PodName, "pod-name", o.PodName,
		"With --standby: this replica's pod, in the namespace of the lease; $POD_NAME by default. By it the replica finds out that it knows what the former leader did. Empty: it waits for 10 s instead.")
	flags.StringVar(&o.HTTPAddress, "http-address", o.HTTPAddress,
		"HOST:PORT for /metrics, /healthz and /readyz; empty: none.")
	flags.BoolVar(&o.Profiling, "profiling", o.Profiling,
		"Serve /debug/pprof beside them.")
}

func (o *Options) addClientFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"File that says how to reach the API server; empty: as a pod of the cluster.")
	flags.Float32Var(&o.BindQPS, "bind-qps", o.BindQPS, "Pods bound in a second at most.")
	flags.IntVar(&o.BindBurst, "bind-burst", o.BindBurst, "Pods bound at once at most.")
	flags.IntVar(&o.BindWorkers, "bind-workers", o.BindWorkers, "Binds that are under way at a time.")
	flags.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Other requests in a second at most; events have as many of their own.")
	flags.DurationVar(&o.UsageInterval, "usage-interval", o.UsageInterval,
		"How often metrics.k8s.io is asked what nodes and pods use, where it is served; 0: never.")
	flags.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Other requests at once at most.")
}

// Validate names all that is wrong.
func (o *Options) Validate() error {
	var errs []error
	check := func(ok bool, flag, must string) {
		if !ok {
			errs = append(errs, fmt.Errorf("--%s %s", flag, must))
		}
	}
	check(o.DaemonAddress != "", "daemon-address", "must not be empty")
	check(o.Feed != "" && len(o.Feed) <= 253, "feed", "must have 1 to 253 bytes")
	check(len(o.Schedulers) > 0, "scheduler-name", "must be given")
	for _, name := range o.Schedulers {
		check(name != "", "scheduler-name", "must not be empty")
	}
	if _, err := parseSpread(o.DefaultSpread); err != nil {
		errs = append(errs, fmt.Errorf("--default-spread: %w", err))
	}
	check(o.BindQPS > 0, "bind-qps", "must be positive")
	check(o.BindBurst > 0, "bind-burst", "must be positive")
	check(o.BindWorkers > 0, "bind-workers", "must be positive")
	check(o.QPS > 0, "kube-api-qps", "must be positive")
	check(o.Burst > 0, "kube-api-burst", "must be positive")
	check(o.UsageInterval == 0 || o.UsageInterval >= time.Second, "usage-interval", "must be 0, or at least a second")
	check(!o.Standby || o.LeaderElection.LeaderElect, "standby", "needs --leader-elect")
	if election := o.LeaderElection; election.LeaderElect {
		check(election.ResourceLock == "leases", "leader-elect-resource-lock", "must be leases")
		check(election.LeaseDuration.Duration%time.Second == 0,
			"leader-elect-lease-duration", "must be whole seconds, as the lease has them")
		check(election.LeaseDuration.Duration >= election.RenewDeadline.Duration+time.Second,
			"leader-elect-lease-duration", "must be at least 1 s above --leader-elect-renew-deadline")
		check(election.RenewDeadline.Duration > election.RetryPeriod.Duration*6/5,
			"leader-elect-renew-deadline", "must be above 1.2 times --leader-elect-retry-period")
		check(election.RetryPeriod.Duration > 0, "leader-elect-retry-period", "must be positive")
	}
	return errors.Join(errs...)
}
