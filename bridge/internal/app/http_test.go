package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/metrics"
)

// A process that hangs does not renew its lease, and is to be started anew.
func TestALeaderThatDoesNotRenewItsLeaseIsNotHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const retryPeriod = 2 * time.Second
		b := &Bridge{options: NewOptions(), registry: metrics.NewKubeRegistry(),
			watchdog: leaderelection.NewLeaderHealthzAdaptor(watchdogTolerance)}
		routes := b.routes()
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: newReplica(t, fake.NewClientset(), "first").lease, Name: "sluice-bridge",
			LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, hang := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer hang()
		for _, step := range []struct {
			name  string
			do    func()
			after time.Duration
			want  int
		}{
			{"nobody stands for election yet", func() {}, 0, http.StatusOK},
			{"it leads", func() {
				b.watchdog.SetLeaderElection(elector)
				running.Go(func() { elector.Run(ctx) })
			}, time.Minute, http.StatusOK},
			{"its lease has ended", hang, leaseDuration + watchdogTolerance - retryPeriod, http.StatusOK},
			{"its lease has ended long ago", func() {}, 2 * retryPeriod, http.StatusInternalServerError},
			{"that election is over", func() { b.watchdog.SetLeaderElection(nil) }, 0, http.StatusOK},
		} {
			step.do()
			time.Sleep(step.after)
			synctest.Wait()
			recorder := httptest.NewRecorder()
			routes.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
			if recorder.Code != step.want {
				t.Errorf("%s: %d, want %d: %s", step.name, recorder.Code, step.want, recorder.Body)
			}
		}
	})
}
