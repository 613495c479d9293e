package helmtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluice-scheduler/sluice/bridge/internal/app"
)

// render1 renders values that are good.
func render1(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := render(t, parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// container is the first one of a workload, as text.
func container(t *testing.T, objects []*unstructured.Unstructured, of string) string {
	t.Helper()
	containers, ok := fields(objects, "spec", "template", "spec", "containers")[of].([]any)
	if !ok {
		t.Fatalf("no %s", of)
	}
	return fmt.Sprint(containers[0])
}

// find is the object of that kind and name.
func find(t *testing.T, objects []*unstructured.Unstructured, of string) map[string]any {
	t.Helper()
	for _, object := range objects {
		if object.GetKind()+" "+object.GetName() == of {
			return object.Object
		}
	}
	t.Fatalf("no %s", of)
	return nil
}

func expect(t *testing.T, what any, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if text := fmt.Sprint(what); !strings.Contains(text, part) {
			t.Errorf("lacks %q: %s", part, text)
		}
	}
}

func TestTheDaemonIsInsecureOnlyWithoutTLS(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(matrix)) {
		speaks := strings.HasPrefix(matrix[name], "tls: {mode")
		for of, containers := range fields(render1(t, matrix[name]), "spec", "template", "spec", "containers") {
			text := fmt.Sprint(containers.([]any)[0])
			if !strings.Contains(text, "name:sluiced") {
				continue
			}
			if speaks == strings.Contains(text, " --insecure") {
				t.Errorf("%s, %s: %s", name, of, text)
			}
			if speaks != strings.Contains(text, "--tls_cert=/etc/sluice/tls/tls.crt --tls_key=/etc/sluice/tls/tls.key --tls_client_ca=/etc/sluice/tls/ca.crt --access_file=/etc/sluice/access/access") {
				t.Errorf("%s, %s: %s", name, of, text)
			}
			if probes := strings.Count(text, "scheme:HTTPS"); speaks && probes != 3 || !speaks && probes != 0 {
				t.Errorf("%s, %s: %d probes by TLS", name, of, probes)
			}
		}
	}
}

func TestBothSidesGetTheirSecrets(t *testing.T) {
	for name, want := range map[string][3]string{
		"TLS by secrets that exist":       {"daemon-tls", "bridge-tls", "sluice-access"},
		"TLS by a job":                    {"sluice-daemon-tls", "sluice-bridge-tls", "sluice-access"},
		"TLS by cert-manager":             {"sluice-daemon-tls", "sluice-bridge-tls", "sluice-access"},
		"TLS by an issuer of one's own":   {"sluice-daemon-tls", "sluice-bridge-tls", "sluice-access"},
		"TLS, a volume, metrics, no role": {"sluice-daemon-tls", "sluice-bridge-tls", "who"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render1(t, matrix[name])
			daemon := "Deployment sluice-daemon"
			if strings.Contains(name, "volume") {
				daemon = "StatefulSet sluice-daemon"
			}
			volumes := fields(objects, "spec", "template", "spec", "volumes")
			expect(t, volumes[daemon], "name:tls secret:map[secretName:"+want[0]+"]", "key:access path:access", "secretName:"+want[2]+"]")
			expect(t, volumes["Deployment sluice-bridge"], "name:tls secret:map[secretName:"+want[1]+"]")
			expect(t, container(t, objects, daemon), "mountPath:/etc/sluice/tls name:tls", "mountPath:/etc/sluice/access name:access")
			expect(t, container(t, objects, "Deployment sluice-bridge"), "--daemon-tls-directory=/etc/sluice/tls", "--daemon-address=sluice-daemon:9090")
			expect(t, fields(objects, "spec")["Service sluice-daemon"], "appProtocol:https")
			if want[2] == "sluice-access" {
				find(t, objects, "Secret sluice-access")
			} else if secrets := fields(objects, "stringData"); len(secrets) > 0 {
				t.Errorf("%v is made, too", secrets)
			}
		})
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	access := fields(render1(t, matrix["TLS by secrets that exist"]), "stringData", "access")["Secret sluice-access"]
	lines := strings.Split(strings.TrimSpace(fmt.Sprint(access)), "\n")
	token := strings.TrimPrefix(lines[2], "read token metrics ")
	want := []string{"write certificate bridge.example.com", "admin certificate sluice.example.com", "read token metrics " + token,
		"admin certificate alice", "read anyone"}
	if !slices.Equal(lines, want) || len(token) != 40 {
		t.Errorf("%q", lines)
	}
	other := fields(render1(t, matrix["TLS by secrets that exist"]), "stringData", "token")["Secret sluice-access"]
	if other == token {
		t.Error("everybody has one token")
	}
}

func TestMetricsAreReadByTLSAndToken(t *testing.T) {
	monitors := fields(render1(t, matrix["TLS, a volume, metrics, no role"]), "spec", "endpoints")
	expect(t, monitors["ServiceMonitor sluice-daemon"], "scheme:https", "authorization:map[credentials:map[key:token name:who]]",
		"ca:map[secret:map[key:ca.crt name:sluice-daemon-tls]] serverName:sluice-daemon]")
	if text := fmt.Sprint(monitors["ServiceMonitor sluice-bridge"]); strings.Contains(text, "https") {
		t.Errorf("the bridge speaks plain text: %s", text)
	}
	plain := fields(render1(t, matrix["service monitors"]), "spec", "endpoints")
	if text := fmt.Sprint(plain["ServiceMonitor sluice-daemon"]); strings.Contains(text, "https") {
		t.Error(text)
	}
}

// The names that the daemon has, wherever it is reached.
var daemonNames = []string{"sluice-daemon", "sluice-daemon.sluice", "sluice-daemon.sluice.svc", "sluice-daemon.sluice.svc.cluster.local",
	"sluice-daemon-0.sluice-daemon.sluice", "sluice-daemon-0.sluice-daemon.sluice.svc", "sluice-daemon-0.sluice-daemon.sluice.svc.cluster.local", "localhost"}

func TestAJobMakesTheCertificates(t *testing.T) {
	objects := render1(t, matrix["TLS by a job"])
	var arguments [][]string
	for _, object := range objects {
		path := []string{"spec", "template", "spec", "containers"}
		switch object.GetKind() {
		case "Job":
		case "CronJob":
			path = append([]string{"spec", "jobTemplate"}, path...)
		default:
			continue
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, path...)
		args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		arguments = append(arguments, args)
	}
	if len(arguments) != 2 || !slices.Equal(arguments[0], arguments[1]) {
		t.Fatalf("%v", arguments)
	}
	// The bridge takes these flags, and understands them.
	command, rest, err := app.NewCommand().Find(arguments[0])
	if err != nil || command.Name() != "certificates" {
		t.Fatalf("%v, %v", command, err)
	}
	if err := command.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	names, err := command.Flags().GetStringSlice("server-name")
	if err != nil || !slices.Equal(names, append(slices.Clone(daemonNames), "sluice.example.com", "127.0.0.1")) {
		t.Errorf("%v, %v", names, err)
	}
	if validity := command.Flag("validity").Value.String(); validity != "720h0m0s" {
		t.Error(validity)
	}
	for flag, want := range map[string]string{"authority-secret": "sluice-ca", "server-secret": "sluice-daemon-tls",
		"client-secret": "sluice-bridge-tls", "client-name": "sluice-bridge", "namespace": "sluice"} {
		if got := command.Flag(flag).Value.String(); got != want {
			t.Errorf("--%s=%s", flag, got)
		}
	}
	// It may do nothing else than that.
	rules := fmt.Sprint(find(t, objects, "Role sluice-certificates")["rules"])
	want := "[map[apiGroups:[] resources:[secrets] verbs:[create]] map[apiGroups:[] resourceNames:[sluice-ca sluice-daemon-tls sluice-bridge-tls] resources:[secrets] verbs:[get update]]]"
	if rules != want {
		t.Error(rules)
	}
}

// Jobs cannot be changed.
func TestAJobThatDoesSomethingElseHasAnotherName(t *testing.T) {
	names := map[string]bool{}
	for _, text := range []string{`tls: {mode: job}`, `tls: {mode: job, days: 30}`, "tls: {mode: job}\nbridge: {image: {tag: new}}", `tls: {mode: job}`} {
		for _, object := range render1(t, text) {
			if object.GetKind() == "Job" {
				names[object.GetName()] = true
			}
		}
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
}

func TestCertManagerMakesTheCertificates(t *testing.T) {
	objects := render1(t, matrix["TLS by cert-manager"])
	authority := find(t, objects, "Certificate sluice-ca")
	expect(t, authority["spec"], "isCA:true", "rotationPolicy:Never", "secretName:sluice-ca", "name:sluice-self-signed]")
	expect(t, find(t, objects, "Issuer sluice-ca")["spec"], "ca:map[secretName:sluice-ca]")
	daemon := find(t, objects, "Certificate sluice-daemon-tls")
	names, _, _ := unstructured.NestedStringSlice(daemon, "spec", "dnsNames")
	if !slices.Equal(names, daemonNames) {
		t.Errorf("%v", names)
	}
	expect(t, daemon["spec"], "usages:[digital signature server auth client auth]", "duration:2160h", "issuerRef:map[kind:Issuer name:sluice-ca]")
	expect(t, find(t, objects, "Certificate sluice-bridge-tls")["spec"], "dnsNames:[sluice-bridge]", "usages:[digital signature client auth]")

	objects = render1(t, matrix["TLS by an issuer of one's own"])
	for _, object := range objects {
		if object.GetKind() == "Issuer" || object.GetName() == "sluice-ca" {
			t.Errorf("%s %s is made", object.GetKind(), object.GetName())
		}
	}
	expect(t, find(t, objects, "Certificate sluice-daemon-tls")["spec"], "issuerRef:map[kind:ClusterIssuer name:corporate]")
}
