// Package app puts the bridge together.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
)

// NewCommand is the program's command line.
func NewCommand() *cobra.Command {
	options := NewOptions()
	command := &cobra.Command{
		Use:   "sluice-bridge",
		Short: "Lets Sluice schedule the pods of a Kubernetes cluster",
		Long: "sluice-bridge states the nodes and pods of a Kubernetes cluster to sluiced,\n" +
			"and binds pods to the nodes on which sluiced places them.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := logsapi.ValidateAndApply(options.Logs, nil); err != nil {
				return fmt.Errorf("logging: %w", err)
			}
			if err := options.Validate(); err != nil {
				return err
			}
			bridge, err := New(options)
			if err != nil {
				return err
			}
			return bridge.Run(klog.NewContext(command.Context(), klog.Background()))
		},
	}
	sets := options.Flags()
	verflag.AddFlags(sets.FlagSet("version"))
	for _, set := range sets.FlagSets {
		command.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(command.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(command, sets, columns)
	return command
}
