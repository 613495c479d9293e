// sluice-bridge lets Sluice schedule the pods of a Kubernetes cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"

	"github.com/sluice-scheduler/sluice/bridge/internal/app"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := app.NewCommand().ExecuteContext(ctx); err != nil {
		return 1
	}
	return 0
}
