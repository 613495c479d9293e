package certificates

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// Secrets that carry it are ours. Others are left alone.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedBy      = "sluice-bridge-certificates"
)

// Wanted says which certificates to keep.
type Wanted struct {
	// The names of the secrets. Whoever reads the first can sign for any name.
	AuthoritySecret, ServerSecret, ClientSecret string
	// The DNS names and addresses by which clients reach the server. The server
	// is a client as well, under the first of them.
	ServerNames []string
	ClientName  string
	// How long the server's and the client's certificates last. They are renewed
	// in the last third.
	Validity time.Duration
	// Labels for the secrets, beside our own.
	Labels map[string]string
}

// Keep makes secrets that are missing, and renews those that are old or were
// made for other names. Several callers may run at once.
func Keep(ctx context.Context, secrets typedcorev1.SecretInterface, wanted Wanted, now time.Time) error {
	k := keeper{secrets: secrets, labels: wanted.Labels, now: now}
	var authority pair
	err := k.keep(ctx, wanted.AuthoritySecret, func(have map[string][]byte) (map[string][]byte, error) {
		before, err := readPair(have)
		if err == nil && before.certificate.IsCA && isFresh(before.certificate, now) {
			authority = before
			return nil, nil
		}
		if authority, err = newAuthority(wanted.AuthoritySecret, before.key, now); err != nil {
			return nil, err
		}
		return authority.data()
	})
	if err != nil {
		return err
	}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	err = k.keepLeaf(ctx, wanted.ServerSecret, authority, wanted.Validity,
		leaf{name: wanted.ServerNames[0], names: wanted.ServerNames, usages: both})
	return errors.Join(err, k.keepLeaf(ctx, wanted.ClientSecret, authority, wanted.Validity,
		leaf{name: wanted.ClientName, names: []string{wanted.ClientName}, usages: both[1:]}))
}

type keeper struct {
	secrets typedcorev1.SecretInterface
	labels  map[string]string
	now     time.Time
}

func (k keeper) keepLeaf(ctx context.Context, name string, authority pair, validity time.Duration, wanted leaf) error {
	return k.keep(ctx, name, func(have map[string][]byte) (map[string][]byte, error) {
		before, err := readPair(have)
		if err == nil {
			err = wanted.check(before, authority, k.now)
		}
		data := have
		if err != nil {
			if len(have) > 0 {
				klog.FromContext(ctx).Info("Renewing a certificate", "secret", name, "reason", err.Error())
			}
			made, err := wanted.make(authority, validity, k.now)
			if err != nil {
				return nil, err
			}
			if data, err = made.data(); err != nil {
				return nil, err
			}
		} else if bytes.Equal(have[authorityPart], authority.pem()) {
			return nil, nil
		}
		data[authorityPart] = authority.pem()
		return data, nil
	})
}

// keep writes what renew returns for the content of a secret. A missing secret
// has no content. If renew returns nil, the secret stays as it is. If another
// writer was faster, keep starts again.
func (k keeper) keep(ctx context.Context, name string, renew func(map[string][]byte) (map[string][]byte, error)) error {
	wasSlower := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
	err := retry.OnError(retry.DefaultBackoff, wasSlower, func() error {
		secret, err := k.secrets.Get(ctx, name, metav1.GetOptions{})
		isNew := apierrors.IsNotFound(err)
		if isNew {
			secret = &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Type: corev1.SecretTypeTLS}
			for label, value := range k.labels {
				secret.Labels[label] = value
			}
			secret.Labels[managedByLabel] = managedBy
		} else if err != nil {
			return err
		}
		if secret.Labels[managedByLabel] != managedBy {
			return fmt.Errorf("somebody else has made it: it lacks the label %s=%s", managedByLabel, managedBy)
		}
		data, err := renew(secret.Data)
		if err != nil || data == nil {
			return err
		}
		secret.Data = data
		if isNew {
			_, err = k.secrets.Create(ctx, secret, metav1.CreateOptions{})
		} else {
			_, err = k.secrets.Update(ctx, secret, metav1.UpdateOptions{})
		}
		if err == nil {
			klog.FromContext(ctx).Info("Wrote a secret", "secret", name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return nil
}
