package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
)

const (
	namespace = "sluice"
	day       = 24 * time.Hour
)

var began = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func wanted() Wanted {
	return Wanted{AuthoritySecret: "ca", ServerSecret: "server", ClientSecret: "client",
		ServerNames: []string{"sluice-daemon", "sluice-daemon.sluice.svc", "127.0.0.1"}, ClientName: "sluice-bridge",
		Validity: 90 * day, Labels: map[string]string{"team": "ops"}}
}

// kept are the secrets after Keep.
func kept(t *testing.T, client *fake.Clientset, wanted Wanted, now time.Time) map[string]map[string][]byte {
	t.Helper()
	secrets := client.CoreV1().Secrets(namespace)
	if err := Keep(t.Context(), secrets, wanted, now); err != nil {
		t.Fatal(err)
	}
	list, err := secrets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]map[string][]byte{}
	for _, secret := range list.Items {
		if secret.Type != corev1.SecretTypeTLS || secret.Labels["team"] != "ops" || secret.Labels[managedByLabel] != managedBy {
			t.Errorf("%s is a %s with %v", secret.Name, secret.Type, secret.Labels)
		}
		result[secret.Name] = maps.Clone(secret.Data)
	}
	return result
}

// shake tells what a client of one secret and a server of another have to say to
// each other, by TLS 1.3 with the client's certificate verified.
func shake(t *testing.T, server, client map[string][]byte, name string, now time.Time) error {
	t.Helper()
	config := func(data map[string][]byte) *tls.Config {
		pair, err := tls.X509KeyPair(data[certificatePart], data[keyPart])
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data[authorityPart]) {
			t.Fatalf("no authority in %s", data[authorityPart])
		}
		return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert, ServerName: name, Time: func() time.Time { return now }}
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config(server))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		// What the server thinks of the client, the client reads.
		if connection.(*tls.Conn).HandshakeContext(context.WithoutCancel(t.Context())) == nil {
			_, _ = connection.Write([]byte("k"))
		}
	}()
	connection, err := tls.Dial("tcp", listener.Addr().String(), config(client))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Read(make([]byte, 1))
	return err
}

func TestServerAndClientKnowEachOther(t *testing.T) {
	have := kept(t, fake.NewClientset(), wanted(), began)
	if names := slices.Sorted(maps.Keys(have)); !slices.Equal(names, []string{"ca", "client", "server"}) {
		t.Fatalf("secrets %v", names)
	}
	for _, name := range wanted().ServerNames {
		if err := shake(t, have["server"], have["client"], name, began); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := shake(t, have["server"], have["client"], "other", began); err == nil {
		t.Error("the server passes for another")
	}
	if err := shake(t, have["client"], have["client"], "sluice-bridge", began); err == nil {
		t.Error("the client passes for a server")
	}
	if err := shake(t, have["server"], have["server"], "sluice-daemon", began); err != nil {
		t.Errorf("the server is no client: %v", err)
	}
	stranger := kept(t, fake.NewClientset(), wanted(), began)
	if err := shake(t, have["server"], stranger["client"], "sluice-daemon", began); err == nil {
		t.Error("one of another authority was taken")
	}
}

func TestWhatIsGoodIsLeftAlone(t *testing.T) {
	client := fake.NewClientset()
	first := kept(t, client, wanted(), began)
	client.ClearActions()
	later := kept(t, client, wanted(), began.Add(59*day))
	for name := range first {
		if !maps.EqualFunc(first[name], later[name], slices.Equal) {
			t.Errorf("%s was changed", name)
		}
	}
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" {
			t.Errorf("%s %s", verb, action.GetResource().Resource)
		}
	}
}

func TestCertificatesAreRenewedInTheirLastThird(t *testing.T) {
	client := fake.NewClientset()
	first := kept(t, client, wanted(), began)
	now := began.Add(61 * day)
	second := kept(t, client, wanted(), now)
	if !slices.Equal(first["ca"][certificatePart], second["ca"][certificatePart]) {
		t.Error("the authority is another")
	}
	for _, name := range []string{"server", "client"} {
		if slices.Equal(first[name][keyPart], second[name][keyPart]) {
			t.Errorf("%s is not renewed", name)
		}
	}
	if err := shake(t, second["server"], second["client"], "sluice-daemon", began.Add(120*day)); err != nil {
		t.Error(err)
	}
	// One side has the new one first.
	for _, sides := range [][2]map[string][]byte{{first["server"], second["client"]}, {second["server"], first["client"]}} {
		if err := shake(t, sides[0], sides[1], "sluice-daemon", now); err != nil {
			t.Error(err)
		}
	}
}

func TestARenewedAuthorityVouchesForWhatTheFormerOneSigned(t *testing.T) {
	now := began.Add(authorityValidity * 2 / 3).Add(day)
	// So long after the beginning only certificates that last as long are good.
	long := wanted()
	long.Validity = authorityValidity
	renewing := fake.NewClientset()
	old := kept(t, renewing, long, began)
	renewed := kept(t, renewing, long, now)
	if slices.Equal(old["ca"][certificatePart], renewed["ca"][certificatePart]) || !slices.Equal(old["ca"][keyPart], renewed["ca"][keyPart]) {
		t.Fatal("the authority is not renewed with its key")
	}
	for _, sides := range [][2]map[string][]byte{
		{old["server"], renewed["client"]}, {renewed["server"], old["client"]}, {renewed["server"], renewed["client"]}} {
		if err := shake(t, sides[0], sides[1], "sluice-daemon", now); err != nil {
			t.Error(err)
		}
	}
}

func TestOtherNamesAreOtherCertificates(t *testing.T) {
	client := fake.NewClientset()
	first := kept(t, client, wanted(), began)
	other := wanted()
	other.ServerNames = append(other.ServerNames, "sluice.example.com")
	second := kept(t, client, other, began.Add(day))
	if err := shake(t, second["server"], second["client"], "sluice.example.com", began.Add(day)); err != nil {
		t.Error(err)
	}
	if !slices.Equal(first["client"][certificatePart], second["client"][certificatePart]) {
		t.Error("the client's was renewed, too")
	}
}

func TestWhatIsBrokenIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(map[string][]byte){
		"no key":         func(data map[string][]byte) { delete(data, keyPart) },
		"no certificate": func(data map[string][]byte) { delete(data, certificatePart) },
		"text":           func(data map[string][]byte) { data[certificatePart] = []byte("text") },
		"another's key": func(data map[string][]byte) {
			data[keyPart] = kept(t, fake.NewClientset(), wanted(), began)["server"][keyPart]
		},
		"no authority":       func(data map[string][]byte) { delete(data, authorityPart) },
		"another's all over": func(data map[string][]byte) { maps.Copy(data, kept(t, fake.NewClientset(), wanted(), began)["server"]) },
	} {
		for _, secret := range []string{"ca", "server", "client"} {
			t.Run(name+" in "+secret, func(t *testing.T) {
				client := fake.NewClientset()
				kept(t, client, wanted(), began)
				broken, err := client.CoreV1().Secrets(namespace).Get(t.Context(), secret, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				spoil(broken.Data)
				if _, err := client.CoreV1().Secrets(namespace).Update(t.Context(), broken, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				have := kept(t, client, wanted(), began.Add(day))
				if err := shake(t, have["server"], have["client"], "sluice-daemon", began.Add(day)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestSecretsOfOthersAreLeftAlone(t *testing.T) {
	client := fake.NewClientset(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "server"},
		Data: map[string][]byte{certificatePart: []byte("theirs")}})
	err := Keep(t.Context(), client.CoreV1().Secrets(namespace), wanted(), began)
	if err == nil || !strings.Contains(err.Error(), "secret server: somebody else has made it") {
		t.Error(err)
	}
}

// Two that make certificates at once agree on one authority.
func TestTheSlowerOneLooksAgain(t *testing.T) {
	other := fake.NewClientset()
	kept(t, other, wanted(), began)
	theirs, err := other.CoreV1().Secrets(namespace).Get(t.Context(), "ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	fast := true
	client.PrependReactor("create", "secrets", func(kubetesting.Action) (bool, runtime.Object, error) {
		if !fast {
			return false, nil, nil
		}
		fast = false
		if err := client.Tracker().Add(theirs); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewAlreadyExists(corev1.Resource("secrets"), "ca")
	})
	have := kept(t, client, wanted(), began)
	if err := shake(t, have["server"], have["client"], "sluice-daemon", began); err != nil {
		t.Error(err)
	}
	if !slices.Equal(theirs.Data[certificatePart], have["server"][authorityPart]) {
		t.Error("the server goes by another authority")
	}
}
