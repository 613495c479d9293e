package helmtest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	chartPath = "../../deploy/helm/sluice"
	namespace = "sluice"
)

// A name of a node as long as may be.
var longName = strings.Repeat("a", 50) + strings.Repeat("."+strings.Repeat("b", 50), 3)

// Values that are tried, each alone and all together.
var matrix = map[string]string{
	"defaults":              ``,
	"a volume":              `daemon: {persistence: {enabled: true, size: 2Gi, storageClassName: fast}}`,
	"several schedulers":    `schedulerNames: [sluice, default-scheduler]`,
	"a spread of one's own": `defaultSpread: "kubernetes.io/hostname=1,example.com/rack=2"`,
	"no default spread":     `defaultSpread: none`,
	"poseidon":              `poseidon: {serviceName: firmament-service}`,
	"no network policy":     `networkPolicy: {enabled: false}`,
	"metrics for some":      `networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {team: ops}}}]}`,
	"service monitors":      `serviceMonitor: {enabled: true, labels: {release: prometheus}}`,
	"a class of its own":    "priorityClassName: sluice\npriorityClass: {create: true, value: 1000}",
	"no class":              `priorityClassName: ""`,
	"TLS":                   `tls: {secretName: sluice-tls, serverName: sluice}`,
	"TLS by a proxy": `tls: {secretName: sluice-tls}
daemon: {tlsPort: 9443, extraContainers: [{name: proxy, image: proxy, ports: [{containerPort: 9443}]}]}`,
	"TLS by secrets that exist": `tls: {mode: secret, secretName: bridge-tls, daemonSecretName: daemon-tls, serverName: sluice.example.com,
  clientName: bridge.example.com, access: ["admin certificate alice", "read anyone"]}`,
	"TLS by a job":                    `tls: {mode: job, extraNames: [sluice.example.com], days: 30}`,
	"TLS by cert-manager":             `tls: {mode: certManager}`,
	"TLS by an issuer of one's own":   `tls: {mode: certManager, issuerRef: {name: corporate, kind: ClusterIssuer}}`,
	"TLS, a volume, metrics, no role": "tls: {mode: job, accessSecretName: who}\nserviceMonitor: {enabled: true}\ndaemon: {persistence: {enabled: true}, extraVolumes: [{name: scratch, emptyDir: {}}]}\nrbac: {create: false}",
	"the platform's user":             `runAsUser: null`,
	"groups":                          `podGroups: {install: true}`,
	"pinned":                          `pinned: [node-a, node-b.example.com, "10", "1e3", ` + longName + `]`,
	"pinned and watched":              "pinned: [node-a]\nserviceMonitor: {enabled: true}\nnetworkPolicy: {metricsFrom: [{namespaceSelector: {}}]}",
	"standby":                         `daemon: {replicas: 2}`,
	"standby and watched":             "daemon: {replicas: 3, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}\nserviceMonitor: {enabled: true}\nnetworkPolicy: {metricsFrom: [{namespaceSelector: {}}]}",
	"labels and environment": `daemon: {podLabels: {team: ops}, podAnnotations: {a: b}, extraEnv: [{name: TZ, value: UTC}], nodeTimeoutSeconds: 5}
bridge: {podLabels: {team: ops}, podAnnotations: {a: b}, extraEnv: [{name: TZ, value: UTC}], nodeTimeoutSeconds: 5}`,
	"an account that is there": `serviceAccount: {create: false, name: scheduler}`,
	"roles made by others":     `rbac: {create: false}`,
	"no budget":                `podDisruptionBudget: {enabled: false}`,
	"one bridge":               `bridge: {replicas: 1, profiling: true, flags: ["--leader-elect=false"], logLevel: 4}`,
	"a daemon elsewhere":       `bridge: {daemonAddress: "sluice.example.com:443"}`,
	"flags and places": `daemon: {flags: ["--improve_budget=0"], nodeSelector: {role: control}, tolerations: [{operator: Exists}],
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}},
  extraContainers: [{name: proxy, image: proxy}], extraVolumes: [{name: scratch, emptyDir: {}}]}`,
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartPath)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// Whoever installs the chart must say where the images are.
const images = `daemon: {image: {repository: registry/sluiced}}
bridge: {image: {repository: registry/sluice-bridge}}`

// render renders the chart with values, and with the images where they name none.
func render(t *testing.T, values map[string]any) ([]*unstructured.Unstructured, error) {
	t.Helper()
	return renderOnly(t, chartutil.CoalesceTables(values, parse(t, images)))
}

func renderOnly(t *testing.T, values map[string]any) ([]*unstructured.Unstructured, error) {
	t.Helper()
	install := action.NewInstall(&action.Configuration{Log: t.Logf})
	install.DryRun, install.ClientOnly = true, true
	install.ReleaseName, install.Namespace = "sluice", namespace
	version, err := chartutil.ParseKubeVersion(kubetest.Version())
	if err != nil {
		t.Fatal(err)
	}
	install.KubeVersion = version
	release, err := install.Run(loadChart(t), values)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	decoder := yamlutil.NewYAMLOrJSONDecoder(strings.NewReader(release.Manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if err == io.EOF {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, release.Manifest)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestLint(t *testing.T) {
	for name, text := range matrix {
		t.Run(name, func(t *testing.T) {
			lint := action.NewLint()
			lint.Strict = true
			lint.Namespace = namespace
			result := lint.Run([]string{chartPath}, parse(t, text))
			for _, err := range result.Errors {
				t.Error(err)
			}
			for _, message := range result.Messages {
				t.Log(message)
			}
		})
	}
}

func TestImagesHaveNoDefaultThatBelongsToOthers(t *testing.T) {
	for part, text := range map[string]string{
		"daemon": `bridge: {image: {repository: registry/sluice-bridge}}`,
		"bridge": `daemon: {image: {repository: registry/sluiced}}`,
	} {
		_, err := renderOnly(t, parse(t, text))
		if want := part + ".image.repository is required: build the image"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
}

func TestValuesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, text := range []string{
		`schedulerNames: []`, `defaultSpread: all`, `defaultSpread: zone`, `defaultSpread: zone=0`, `defaultSpread: "zone=1,"`, `defaultSpread: ""`, `bridge: {replicas: -1}`, `bridge: {replica: 1}`, `unknown: 1`,
		`pinned: [a, a]`, "pinned: [a]\ndaemon: {persistence: {enabled: true}}", "pinned: [a]\ntls: {secretName: s}",
		"pinned: [a]\nbridge: {daemonAddress: d}", `pinned: [Node_A]`, `pinned: ["a: b"]`, "pinned: [a, b]\nbridge: {flags: [--leader-elect=false]}", "pinned: [a]\nposeidon: {serviceName: s}",
		`tls: {mode: magic}`, `tls: {mode: secret}`, `tls: {mode: secret, secretName: s}`, `tls: {mode: secret, daemonSecretName: s}`, `tls: {daemonSecretName: s}`, `tls: {mode: job, secretName: s}`,
		`tls: {mode: certManager, daemonSecretName: s}`, `tls: {mode: job, issuerRef: {name: i}}`, `tls: {access: ["read anyone"]}`, `tls: {accessSecretName: s}`, `tls: {mode: job, access: ["read anyone"], accessSecretName: s}`,
		`tls: {mode: job, access: ["read token ops secret"]}`, `tls: {mode: job, access: ["rule anyone"]}`, `tls: {mode: job, days: 1}`, `tls: {mode: job, clientName: "a b"}`, "tls: {mode: job}\npinned: [a]",
		`daemon: {replicas: 0}`, "daemon: {replicas: 2}\npinned: [a]", "daemon: {replicas: 2}\ntls: {mode: job}", "daemon: {replicas: 2}\ntls: {secretName: s}", "daemon: {replicas: 2, persistence: {enabled: true}}",
		"daemon: {replicas: 2}\nbridge: {daemonAddress: d}", "daemon: {replicas: 2}\nbridge: {flags: [--leader-elect=false]}", "daemon: {replicas: 2}\nposeidon: {serviceName: s}", "daemon: {replicas: 2, tlsPort: 9443}",
		"tls: {mode: job}\ndaemon: {tlsPort: 9443}", "tls: {mode: job}\nposeidon: {serviceName: s}",
		`daemon: {flags: [no-dash]}`, `daemon: {tlsPort: 65536}`, `runAsUser: 0`, `bridge: {bindQPS: 0}`, "priorityClassName: ''\npriorityClass: {create: true}",
	} {
		if _, err := render(t, parse(t, text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// The API server itself says whether it would take what is rendered.
func TestTheAPIServerTakesWhatIsRendered(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	ctx := context.Background()
	_, err := plane.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(plane.Client.Discovery()))
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(matrix)) {
		if !strings.HasPrefix(name, "pinned") && !strings.HasPrefix(name, "standby") && !strings.HasPrefix(matrix[name], "tls: {mode") && name != "no class" && name != "roles made by others" && name != "no budget" && name != "no network policy" {
			all = chartutil.CoalesceTables(parse(t, matrix[name]), all)
		}
	}
	cases := map[string]map[string]any{"all together": all}
	for name, text := range matrix {
		cases[name] = parse(t, text)
	}
	for name, values := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := render(t, values)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				switch object.GetKind() {
				case "ServiceMonitor", "Issuer", "Certificate":
					// Defined by the Prometheus operator, and by cert-manager.
					continue
				}
				create(t, client, mapper, object)
			}
		})
	}
}

func create(t *testing.T, client dynamic.Interface, mapper meta.RESTMapper, object *unstructured.Unstructured) {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	resource := client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		_, err = resource.Namespace(namespace).Create(context.Background(), object, options)
	} else {
		_, err = resource.Create(context.Background(), object, options)
	}
	if err != nil {
		t.Errorf("%s %s: %v", kind.Kind, object.GetName(), err)
	}
}

func TestNothingRunsAsRootOrWritesItsImage(t *testing.T) {
	objects, err := render(t, parse(t, matrix["TLS by a job"]))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, object := range objects {
		path := []string{"spec", "template", "spec"}
		if object.GetKind() == "CronJob" {
			path = append([]string{"spec", "jobTemplate"}, path...)
		}
		template, found, _ := unstructured.NestedMap(object.Object, path...)
		if !found {
			continue
		}
		seen++
		if nonRoot, _, _ := unstructured.NestedBool(template, "securityContext", "runAsNonRoot"); !nonRoot {
			t.Errorf("%s may run as root", object.GetName())
		}
		containers, _, _ := unstructured.NestedSlice(template, "containers")
		for _, container := range containers {
			context, _, _ := unstructured.NestedMap(container.(map[string]any), "securityContext")
			if context["readOnlyRootFilesystem"] != true || context["allowPrivilegeEscalation"] != false {
				t.Errorf("%s has %v", object.GetName(), context)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d workloads", seen)
	}
}

// fields are what the path names in each of the objects that have it.
func fields(objects []*unstructured.Unstructured, path ...string) map[string]any {
	result := map[string]any{}
	for _, object := range objects {
		if value, found, _ := unstructured.NestedFieldNoCopy(object.Object, path...); found {
			result[object.GetKind()+" "+object.GetName()] = value
		}
	}
	return result
}

func TestThePlatformMayChooseTheUser(t *testing.T) {
	for text, want := range map[string]int{``: 2, `runAsUser: null`: 0} {
		objects, err := render(t, parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := fields(objects, "spec", "template", "spec", "securityContext", "runAsUser"); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTheBridgeIsToldTheDefaultSpread(t *testing.T) {
	for text, want := range map[string]string{
		``:                                      "--default-spread=system",
		matrix["no default spread"]:             "--default-spread=none",
		matrix["a spread of one's own"]:         "--default-spread=kubernetes.io/hostname=1,example.com/rack=2",
		"pinned: [node-a]\ndefaultSpread: none": "--default-spread=none",
	} {
		objects, err := render(t, parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if spec := fmt.Sprint(fields(objects, "spec", "template", "spec", "containers")); !strings.Contains(spec, want+" ") {
			t.Errorf("%q: %s lacks %s", text, spec, want)
		}
	}
}

func TestAProxyForTLSIsReachedByTheBridge(t *testing.T) {
	objects, err := render(t, parse(t, matrix["TLS by a proxy"]))
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]string{
		"Deployment sluice-bridge":    "--daemon-address=sluice-daemon:9443",
		"Service sluice-daemon":       "port:9443 targetPort:9443",
		"NetworkPolicy sluice-daemon": "port:9443",
	} {
		if spec := fmt.Sprint(fields(objects, "spec")[of]); !strings.Contains(spec, want) {
			t.Errorf("%s lacks %s: %s", of, want, spec)
		}
	}
}
