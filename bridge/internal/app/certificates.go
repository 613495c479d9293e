package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/certificates"
)

// Shorter ones would be renewed more often than a job runs each day.
const minValidity = 7 * 24 * time.Hour

// certificateOptions are those of the command of that name, each a flag.
type certificateOptions struct {
	kubeconfig, namespace string
	wanted                certificates.Wanted
}

func (o *certificateOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"File that says how to reach the API server; empty: as a pod of the cluster.")
	flags.StringVar(&o.namespace, "namespace", o.namespace, "Where the secrets are.")
	flags.StringVar(&o.wanted.AuthoritySecret, "authority-secret", o.wanted.AuthoritySecret,
		"The secret of the authority that signs the others.")
	flags.StringVar(&o.wanted.ServerSecret, "server-secret", o.wanted.ServerSecret, "The secret of the daemon.")
	flags.StringVar(&o.wanted.ClientSecret, "client-secret", o.wanted.ClientSecret, "The secret of the bridge.")
	flags.StringSliceVar(&o.wanted.ServerNames, "server-name", o.wanted.ServerNames,
		"A name of DNS or an address of the daemon. May be given several times; the first is its own where it is a client.")
	flags.StringVar(&o.wanted.ClientName, "client-name", o.wanted.ClientName, "The name of the bridge.")
	flags.DurationVar(&o.wanted.Validity, "validity", o.wanted.Validity,
		"How long certificates last; they are renewed in their last third.")
	flags.StringToStringVar(&o.wanted.Labels, "label", o.wanted.Labels,
		"A label that the secrets get when they are made, as KEY=VALUE. May be given several times.")
}

func (o *certificateOptions) validate() error {
	var errs []error
	for flag, name := range map[string]string{"authority-secret": o.wanted.AuthoritySecret, "server-secret": o.wanted.ServerSecret,
		"client-secret": o.wanted.ClientSecret, "namespace": o.namespace} {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("--%s: %q is no name", flag, name))
		}
	}
	if len(o.wanted.ServerNames) == 0 {
		errs = append(errs, errors.New("--server-name must be given"))
	}
	for _, name := range append([]string{o.wanted.ClientName}, o.wanted.ServerNames...) {
		if name == "" {
			errs = append(errs, errors.New("--server-name and --client-name must not be empty"))
		}
	}
	if o.wanted.Validity < minValidity {
		errs = append(errs, fmt.Errorf("--validity must be at least %v", minValidity))
	}
	return errors.Join(errs...)
}

// newCertificatesCommand makes and renews the certificates of daemon and bridge,
// and ends.
func newCertificatesCommand() *cobra.Command {
	options := certificateOptions{namespace: namespace(), wanted: certificates.Wanted{
		ClientName: "sluice-bridge", Validity: 365 * 24 * time.Hour}}
	command := &cobra.Command{
		Use:   "certificates",
		Short: "Makes the certificates of the daemon and the bridge, or renews them, and ends",
		Long: "Makes an authority, a certificate of the daemon and one of the bridge, each in a\n" +
			"secret of the kind kubernetes.io/tls with ca.crt, tls.crt and tls.key. What is\n" +
			"there and good for longer than a third of its time is left alone.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			config, err := clientcmd.BuildConfigFromFlags("", options.kubeconfig)
			if err != nil {
				return fmt.Errorf("how to reach the API server: %w", err)
			}
			config.ContentType = runtime.ContentTypeJSON
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return fmt.Errorf("client: %w", err)
			}
			return certificates.Keep(klog.NewContext(command.Context(), klog.Background()),
				client.CoreV1().Secrets(options.namespace), options.wanted, time.Now())
		},
	}
	var sets cliflag.NamedFlagSets
	options.addFlags(sets.FlagSet("certificates"))
	for _, set := range sets.FlagSets {
		command.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(command.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(command, sets, columns)
	return command
}
