// Package app puts the bridge together.
package app

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/klog/v2"
)

// version is set by the linker in images, whose sources are no checkout.
var version string

// buildVersion is what the linker set, or else the commit, as far as Go noted it.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "(devel)"
}

// NewCommand is the program's command line.
func NewCommand() *cobra.Command {
	options := NewOptions()
	command := &cobra.Command{
		Use:   "sluice-bridge",
		Short: "Lets Sluice schedule the pods of a Kubernetes cluster",
		Long: "sluice-bridge states the nodes and pods of a Kubernetes cluster to sluiced,\n" +
			"and binds pods to the nodes on which sluiced places them.",
		Version:      buildVersion(),
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
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
	sets.FlagSet("version").Bool("version", false, "print the version, and exit")
	for _, set := range sets.FlagSets {
		command.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(command.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(command, sets, columns)
	command.AddCommand(newCertificatesCommand())
	command.CompletionOptions.DisableDefaultCmd = true
	return command
}
