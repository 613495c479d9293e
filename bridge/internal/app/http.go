package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/component-base/metrics/legacyregistry"
	// Client-go counts elections, requests and queues by what these register.
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection"
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"
	"k8s.io/klog/v2"
)

// serveHTTP returns an error if the port cannot be had.
func (b *Bridge) serveHTTP(ctx context.Context) error {
	if b.options.HTTPAddress == "" {
		<-ctx.Done()
		return nil
	}
	listener, err := net.Listen("tcp", b.options.HTTPAddress)
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	server := &http.Server{Handler: b.routes(), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() {
		// Probes and scrapes are short, and nothing is lost with them.
		_ = server.Close()
	})
	defer stopped()
	klog.FromContext(ctx).Info("Serving HTTP", "address", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

func (b *Bridge) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(
		prometheus.Gatherers{b.registry, legacyregistry.DefaultGatherer}, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := b.watchdog.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reason := b.notReady(); reason != "" {
			http.Error(w, reason, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if b.options.Profiling {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// notReady says what is missing; empty: the replica is ready. One that does not
// lead is ready once its informers have synced. One with a daemon of its own is
// ready once that daemon knows everything.
func (b *Bridge) notReady() string {
	if !b.mirror.HasSynced() {
		return "the API server has not listed everything yet"
	}
	telling := b.telling.Load()
	if (telling == nil && b.options.Standby) || (telling != nil && !telling.IsLive()) {
		return "the daemon does not know everything yet"
	}
	return ""
}
