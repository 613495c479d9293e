package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// lead serves terms until ctx ends. A lease that is lost ends a term and not
// the program: the mirror is complete, and the next term begins at once.
func (b *Bridge) lead(ctx context.Context) {
	logger := klog.FromContext(ctx)
	if !b.options.LeaderElection.LeaderElect {
		b.serveTerm(ctx)
		return
	}
	for ctx.Err() == nil {
		if err := b.runElection(ctx); err != nil {
			logger.Error(err, "Leader election failed; trying again")
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (b *Bridge) runElection(ctx context.Context) error {
	settings := b.options.LeaderElection
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name of this replica: %w", err)
	}
	lock, err := resourcelock.New(settings.ResourceLock, settings.ResourceNamespace, settings.ResourceName,
		b.client.CoreV1(), b.client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())})
	if err != nil {
		return fmt.Errorf("lease %s/%s: %w", settings.ResourceNamespace, settings.ResourceName, err)
	}
	// The elector returns as soon as the lease is lost; a term ends a little later.
	ended := make(chan struct{})
	started := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            settings.ResourceName,
		LeaseDuration:   settings.LeaseDuration.Duration,
		RenewDeadline:   settings.RenewDeadline.Duration,
		RetryPeriod:     settings.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				close(started)
				defer close(ended)
				b.serveTerm(ctx)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("elector: %w", err)
	}
	elector.Run(ctx)
	select {
	case <-started:
		<-ended
	case <-time.After(time.Second):
		// It was never led, or its goroutine has not begun and will find its context
		// ended.
	}
	return nil
}
