package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// lead serves terms until ctx ends. A lost lease ends a term and not the
// program. The mirror stays complete, so the next term begins at once.
func (b *Bridge) lead(ctx context.Context) {
	logger := klog.FromContext(ctx)
	if !b.options.LeaderElection.LeaderElect {
		b.serveTerm(ctx, sole{})
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

// runElection stands for election, and serves one term if it wins.
func (b *Bridge) runElection(ctx context.Context) error {
	settings := b.options.LeaderElection
	// The election outlasts the term: the elector gives the lease back once no
	// bind is under way.
	serving, endTerm := context.WithCancel(ctx)
	defer endTerm()
	electing, endElection := context.WithCancel(context.WithoutCancel(ctx))
	defer endElection()
	lock, err := b.newLease(endTerm)
	if err != nil {
		return err
	}
	serve := func() { b.serveTerm(serving, lock) }
	if b.options.Standby {
		standby, end, err := b.standBy(serving, lock)
		if err != nil {
			return err
		}
		defer end()
		defer endTerm()
		// The watchdog must not judge the election of the former term any more.
		b.watchdog.SetLeaderElection(nil)
		if !standby.awaitLife(serving) {
			return nil
		}
		serve = func() { b.takeOver(serving, standby, lock) }
	}
	var term sync.Mutex // held while the term is served
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            settings.ResourceName,
		LeaseDuration:   settings.LeaseDuration.Duration,
		RenewDeadline:   settings.RenewDeadline.Duration,
		RetryPeriod:     settings.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				term.Lock()
				defer term.Unlock()
				defer endTerm()
				defer context.AfterFunc(leading, endTerm)()
				serve()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("elector: %w", err)
	}
	b.watchdog.SetLeaderElection(elector)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-serving.Done()
		term.Lock()
		defer term.Unlock()
		lock.endTerm()
		endElection()
	}()
	elector.Run(electing)
	endTerm()
	<-stopped
	return nil
}

func (b *Bridge) newLease(onLost func()) (*lease, error) {
	settings := b.options.LeaderElection
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name of this replica: %w", err)
	}
	lock, err := resourcelock.New(settings.ResourceLock, settings.ResourceNamespace, settings.ResourceName,
		b.client.CoreV1(), b.client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())})
	if err != nil {
		return nil, fmt.Errorf("lease %s/%s: %w", settings.ResourceNamespace, settings.ResourceName, err)
	}
	return &lease{
		Interface:     lock,
		leases:        b.client.CoordinationV1().Leases(settings.ResourceNamespace),
		name:          settings.ResourceName,
		duration:      settings.LeaseDuration.Duration,
		renewDeadline: settings.RenewDeadline.Duration,
		hasBound:      b.mirror.HasBound,
		onLost:        onLost,
	}, nil
}
