package mirror

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// A verdict on a field of Kubernetes and all below it: exactly one is set.
type verdict struct {
	// mapped: a change of each field below changes what the daemon is told.
	mapped bool
	// told: what the daemon is told changes once the field is there; the fields
	// below do not matter.
	told bool
	// refused: once the field is there, the pod is not placed, and this is in the
	// reason.
	refused string
	// irrelevant says why no scheduler needs the field. A change of it changes
	// nothing.
	irrelevant string
	// elsewhere names the test that shows what the field does: it decides
	// whether anything is told at all.
	elsewhere string
}

const (
	kubelet   = "the kubelet's alone"
	admission = "admission resolves it into fields that are listed here"
	noRoom    = "takes no room, and is on no node more than on another"
)

// Every field of a pod's specification. The longest entry that a path begins
// with holds.
var podFields = map[string]verdict{
	"ActiveDeadlineSeconds":        {irrelevant: kubelet},
	"Affinity":                     {mapped: true},
	"AutomountServiceAccountToken": {irrelevant: admission},
	"Containers":                   {irrelevant: kubelet},
	"Containers[].Name":            {irrelevant: "what a container takes does not depend on its name"},
	"Containers[].Ports":           {mapped: true},
	"Containers[].Ports[].Name":    {irrelevant: "services' alone"},
	"Containers[].Ports[].ContainerPort": {
		irrelevant: "of a pod with hostNetwork, the API server copies it to hostPort"},
	"Containers[].Resources.Claims":   {irrelevant: "names one of spec.resourceClaims, which are refused"},
	"Containers[].Resources.Limits":   {irrelevant: "the API server copies it to requests that are not stated"},
	"Containers[].Resources.Requests": {mapped: true},
	"Containers[].RestartPolicyRules": {irrelevant: kubelet},
	"Containers[].RestartPolicyRules[].Action": {
		mapped: true},
	"Containers[].VolumeMounts[].BindMountOptions": {told: true},
	"DNSConfig":                     {irrelevant: kubelet},
	"DNSPolicy":                     {irrelevant: kubelet},
	"DeprecatedServiceAccount":      {irrelevant: kubelet},
	"EnableServiceLinks":            {irrelevant: kubelet},
	"EphemeralContainers":           {irrelevant: "may request nothing, and are added to pods that run"},
	"EvictionResponders":            {irrelevant: "the eviction API's affair"},
	"HostAliases":                   {irrelevant: kubelet},
	"HostIPC":                       {irrelevant: kubelet},
	"HostNetwork":                   {mapped: true},
	"HostPID":                       {irrelevant: kubelet},
	"HostUsers":                     {mapped: true},
	"Hostname":                      {irrelevant: kubelet},
	"HostnameOverride":              {irrelevant: kubelet},
	"ImagePullSecrets":              {irrelevant: kubelet},
	"InitContainers":                {irrelevant: kubelet},
	"InitContainers[].Name":         {irrelevant: "what a container takes does not depend on its name"},
	"InitContainers[].Ports":        {mapped: true},
	"InitContainers[].Ports[].Name": {irrelevant: "services' alone"},
	"InitContainers[].Ports[].ContainerPort": {
		irrelevant: "of a pod with hostNetwork, the API server copies it to hostPort"},
	"InitContainers[].Resources.Claims":   {irrelevant: "names one of spec.resourceClaims, which are refused"},
	"InitContainers[].Resources.Limits":   {irrelevant: "the API server copies it to requests that are not stated"},
	"InitContainers[].Resources.Requests": {mapped: true},
	"InitContainers[].RestartPolicy":      {mapped: true},
	"InitContainers[].RestartPolicyRules[].Action": {
		mapped: true},
	"InitContainers[].VolumeMounts[].BindMountOptions": {told: true},
	"NodeName":           {elsewhere: "TestWhatIsStatedOfAPod"},
	"NodeSelector":       {mapped: true},
	"OS":                 {irrelevant: "kube-scheduler does not look at it either; nodes have a label"},
	"Overhead":           {mapped: true},
	"PreemptionPolicy":   {mapped: true},
	"Priority":           {mapped: true},
	"PriorityClassName":  {irrelevant: admission},
	"ReadinessGates":     {irrelevant: kubelet},
	"ResourceClaims":     {refused: "spec.resourceClaims: Forbidden: dynamic resource allocation is not supported"},
	"Resources.Claims":   {irrelevant: "the API server refuses it"},
	"Resources.Limits":   {irrelevant: "the API server copies it to requests that are not stated"},
	"Resources.Requests": {mapped: true},
	"RestartPolicy":      {irrelevant: kubelet},
	"RuntimeClassName":   {irrelevant: admission},
	"SchedulerName":      {elsewhere: "TestWhatIsStatedOfAPod"},
	"SchedulingGates":    {elsewhere: "TestWhatIsStatedOfAPod"},

	"SchedulingGroup":               {refused: "spec.schedulingGroup: Forbidden: pod groups of scheduling.k8s.io are not supported"},
	"SecurityContext":               {irrelevant: kubelet},
	"ServiceAccountName":            {irrelevant: kubelet},
	"SetHostnameAsFQDN":             {irrelevant: kubelet},
	"ShareProcessNamespace":         {irrelevant: kubelet},
	"Subdomain":                     {irrelevant: kubelet},
	"TerminationGracePeriodSeconds": {irrelevant: kubelet},
	"Tolerations":                   {mapped: true},
	"TopologySpreadConstraints":     {mapped: true},

	"Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[].PodAffinityTerm.MatchLabelKeys":        {irrelevant: mergedKeys},
	"Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[].PodAffinityTerm.MismatchLabelKeys":     {irrelevant: mergedKeys},
	"Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[].MatchLabelKeys":                         {irrelevant: mergedKeys},
	"Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[].MismatchLabelKeys":                      {irrelevant: mergedKeys},
	"Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[].PodAffinityTerm.MatchLabelKeys":    {irrelevant: mergedKeys},
	"Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[].PodAffinityTerm.MismatchLabelKeys": {irrelevant: mergedKeys},
	"Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[].MatchLabelKeys":                     {irrelevant: mergedKeys},
	"Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[].MismatchLabelKeys":                  {irrelevant: mergedKeys},

	"Volumes[].Name": {irrelevant: "names the claim of an ephemeral volume, which is listed below"},
	"Volumes[].VolumeSource.AWSElasticBlockStore":            {refused: "names a disk"},
	"Volumes[].VolumeSource.AzureDisk":                       {told: true},
	"Volumes[].VolumeSource.AzureFile":                       {irrelevant: network},
	"Volumes[].VolumeSource.CSI":                             {irrelevant: "volumes inside a pod are not attached"},
	"Volumes[].VolumeSource.CephFS":                          {irrelevant: network},
	"Volumes[].VolumeSource.Cinder":                          {told: true},
	"Volumes[].VolumeSource.ConfigMap":                       {irrelevant: noRoom},
	"Volumes[].VolumeSource.DownwardAPI":                     {irrelevant: noRoom},
	"Volumes[].VolumeSource.EmptyDir":                        {irrelevant: "what it takes is in the requests for ephemeral storage and memory"},
	"Volumes[].VolumeSource.Ephemeral":                       {refused: "was not created for this pod"},
	"Volumes[].VolumeSource.FC":                              {irrelevant: network},
	"Volumes[].VolumeSource.FlexVolume":                      {irrelevant: network},
	"Volumes[].VolumeSource.Flocker":                         {irrelevant: network},
	"Volumes[].VolumeSource.GCEPersistentDisk":               {refused: "names a disk"},
	"Volumes[].VolumeSource.GitRepo":                         {irrelevant: noRoom},
	"Volumes[].VolumeSource.Glusterfs":                       {irrelevant: network},
	"Volumes[].VolumeSource.HostPath":                        {irrelevant: "kube-scheduler does not look at it either"},
	"Volumes[].VolumeSource.ISCSI":                           {refused: "names a disk"},
	"Volumes[].VolumeSource.Image":                           {irrelevant: noRoom},
	"Volumes[].VolumeSource.NFS":                             {irrelevant: network},
	"Volumes[].VolumeSource.PersistentVolumeClaim":           {irrelevant: kubelet},
	"Volumes[].VolumeSource.PersistentVolumeClaim.ClaimName": {mapped: true},
	"Volumes[].VolumeSource.PhotonPersistentDisk":            {irrelevant: network},
	"Volumes[].VolumeSource.PortworxVolume":                  {told: true},
	"Volumes[].VolumeSource.Projected":                       {irrelevant: noRoom},
	"Volumes[].VolumeSource.Quobyte":                         {irrelevant: network},
	"Volumes[].VolumeSource.RBD":                             {refused: "names a disk"},
	"Volumes[].VolumeSource.ScaleIO":                         {irrelevant: network},
	"Volumes[].VolumeSource.Secret":                          {irrelevant: noRoom},
	"Volumes[].VolumeSource.StorageOS":                       {irrelevant: network},
	"Volumes[].VolumeSource.VsphereVolume":                   {told: true},
}

const (
	mergedKeys = "the API server joins the keys to the label selector"
	network    = "can be reached from every node, and no node counts it"
)

// Every field of a node's specification.
var nodeSpecFields = map[string]verdict{
	"ConfigSource":        {irrelevant: kubelet},
	"DoNotUseExternalID":  {irrelevant: "obsolete"},
	"PodCIDR":             {irrelevant: "the network's affair"},
	"PodCIDRs":            {irrelevant: "the network's affair"},
	"PodPreemptionPolicy": {irrelevant: "no pod is displaced so that another may be resized"},
	"ProviderID":          {irrelevant: "the cloud's affair"},
	"Taints":              {mapped: true},
	"Taints[].TimeAdded":  {irrelevant: "tells when pods are evicted, which the taint manager does"},
	"Unschedulable":       {mapped: true},
}

// Every field of a node's status.
var nodeStatusFields = map[string]verdict{
	"Addresses":                       {irrelevant: "the network's affair"},
	"Allocatable":                     {mapped: true},
	"Capacity":                        {mapped: true},
	"Conditions[].LastHeartbeatTime":  {irrelevant: "the node controller's affair, which sets the status"},
	"Conditions[].LastTransitionTime": {irrelevant: "the node controller's affair, which sets the status"},
	"Conditions[].Message":            {irrelevant: "for people"},
	"Conditions[].Reason":             {irrelevant: "for people"},
	"Conditions[].Status":             {mapped: true},
	"Conditions[].Type":               {mapped: true},
	"Config":                          {irrelevant: kubelet},
	"DaemonEndpoints":                 {irrelevant: kubelet},
	"DeclaredFeatures":                {mapped: true},
	"Features":                        {irrelevant: "kube-scheduler does not look at it either"},
	"Images":                          {irrelevant: "a score of kube-scheduler's, which the daemon does not have"},
	"NodeInfo":                        {irrelevant: "nodes have labels for it"},
	"Phase":                           {irrelevant: "obsolete"},
	"RuntimeHandlers":                 {irrelevant: "RuntimeClass has a node selector for it"},
	"VolumesAttached":                 {irrelevant: "limits of attachments are in CSINode"},
	"VolumesInUse":                    {irrelevant: "limits of attachments are in CSINode"},
}

// leaves are the paths below t: "[]" stands for an element of a list. Maps and
// the scalar types of the API's machinery are leaves.
func leaves(t reflect.Type, path string) []string {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[metav1.Time]():
		return []string{path}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return leaves(t.Elem(), path)
	case reflect.Slice:
		return leaves(t.Elem(), path+"[]")
	case reflect.Struct:
		var result []string
		for i := range t.NumField() {
			name := t.Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			result = append(result, leaves(t.Field(i).Type, name)...)
		}
		return result
	}
	return []string{path}
}

// at is the field of value that path names, which is made where it is absent.
func at(value reflect.Value, path string) reflect.Value {
	for _, name := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(name, "[]")
		for value.Kind() == reflect.Pointer {
			if value.IsNil() {
				value.Set(reflect.New(value.Type().Elem()))
			}
			value = value.Elem()
		}
		value = value.FieldByName(name)
		if isList {
			if value.Len() == 0 {
				value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			}
			value = value.Index(0)
		}
	}
	return value
}

// others are values for fields of which not every text makes sense.
var others = map[reflect.Type][2]string{
	reflect.TypeFor[corev1.NodeSelectorOperator]():          {"In", "NotIn"},
	reflect.TypeFor[metav1.LabelSelectorOperator]():         {"In", "NotIn"},
	reflect.TypeFor[corev1.TolerationOperator]():            {"Equal", "Exists"},
	reflect.TypeFor[corev1.TaintEffect]():                   {"NoSchedule", "NoExecute"},
	reflect.TypeFor[corev1.Protocol]():                      {"TCP", "UDP"},
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): {"DoNotSchedule", "ScheduleAnyway"},
	reflect.TypeFor[corev1.NodeInclusionPolicy]():           {"Honor", "Ignore"},
	reflect.TypeFor[corev1.PreemptionPolicy]():              {"Never", "PreemptLowerPriority"},
	reflect.TypeFor[corev1.ContainerRestartPolicy]():        {"Always", "Never"},
	reflect.TypeFor[corev1.ContainerRestartRuleAction]():    {"Restart", "RestartAllContainers"},
	reflect.TypeFor[corev1.NodeConditionType]():             {"Ready", "DiskPressure"},
	reflect.TypeFor[corev1.ConditionStatus]():               {"True", "False"},
}

// change gives a leaf another value.
func change(field reflect.Value) {
	switch field.Type() {
	case reflect.TypeFor[resource.Quantity]():
		field.Set(reflect.ValueOf(resource.MustParse("7")))
		return
	case reflect.TypeFor[metav1.Time]():
		field.Set(reflect.ValueOf(metav1.Unix(7, 0)))
		return
	case reflect.TypeFor[corev1.ResourceList]():
		list, _ := field.Interface().(corev1.ResourceList)
		list = maps.Clone(list)
		if list == nil {
			list = corev1.ResourceList{}
		}
		quantity := list[corev1.ResourceCPU]
		quantity.Add(resource.MustParse("1"))
		list[corev1.ResourceCPU] = quantity
		field.Set(reflect.ValueOf(list))
		return
	}
	switch field.Kind() {
	case reflect.Pointer:
		if field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		} else {
			clone := reflect.New(field.Type().Elem())
			clone.Elem().Set(field.Elem())
			field.Set(clone)
		}
		change(field.Elem())
	case reflect.String:
		text := field.String() + "-other"
		if pair, ok := others[field.Type()]; ok {
			text = pair[0]
			if field.String() == pair[0] {
				text = pair[1]
			}
		}
		field.SetString(text)
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.Int32, reflect.Int64, reflect.Int:
		field.SetInt(field.Int() + 1)
	case reflect.Uint8:
		field.SetUint(field.Uint() + 1)
	case reflect.Map:
		made := reflect.MakeMap(field.Type())
		key, value := reflect.New(field.Type().Key()).Elem(), reflect.New(field.Type().Elem()).Elem()
		change(key)
		change(value)
		made.SetMapIndex(key, value)
		field.Set(made)
	default:
		panic(fmt.Sprintf("no other value of %v", field.Type()))
	}
}

// verdictOn is the entry with the longest prefix of path.
func verdictOn(table map[string]verdict, path string) (string, bool) {
	for entry := path; entry != ""; {
		if _, ok := table[entry]; ok {
			return entry, true
		}
		if strings.HasSuffix(entry, "[]") {
			entry = strings.TrimSuffix(entry, "[]")
		} else {
			entry = entry[:max(strings.LastIndex(entry, "."), 0)]
		}
	}
	return "", false
}

// storage has every claim that is asked for, bound to a volume of a driver whose
// volumes every node limits.
type storage struct{}

func (storage) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Annotations: map[string]string{volume.AnnBindCompleted: "yes"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "of-" + name},
	}, nil
}

func (storage) Volume(name string) (*corev1.PersistentVolume, error) {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: name}},
	}, nil
}

func (storage) VolumesFor(*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume { return nil }

func (storage) Class(string) (*storagev1.StorageClass, error) { return &storagev1.StorageClass{}, nil }

func (storage) HasAttachLimit(string) bool { return true }

// statementOn is what the daemon is told of a pod as the cache has it.
func statementOn(pod *corev1.Pod) (proto.Message, error) {
	pod = pod.DeepCopy()
	slimPod(pod)
	volumes, err := convert.Volumes(pod, storage{})
	if err != nil {
		return nil, err
	}
	description, problems := convert.Pod(pod, convert.Surroundings{Volumes: volumes})
	if len(problems) > 0 {
		return nil, problems.ToAggregate()
	}
	return description, nil
}

// wholePod has a value in each field that is mapped, so that each can change.
func wholePod() *corev1.Pod {
	selector := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{
			MatchLabels: map[string]string{"app": name},
			MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{name}},
			},
		}
	}
	requirements := []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}
	nodeTerm := corev1.NodeSelectorTerm{MatchExpressions: requirements, MatchFields: requirements}
	podTerm := func(name string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{
			LabelSelector: selector(name), Namespaces: []string{"shop"}, TopologyKey: "host", NamespaceSelector: selector(name),
		}
	}
	weighted := func(name string) []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: 3, PodAffinityTerm: podTerm(name)}}
	}
	container := func(port int32) corev1.Container {
		return corev1.Container{
			Name:  "c",
			Ports: []corev1.ContainerPort{{HostPort: port, HostIP: "10.0.0.1", Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			},
		}
	}
	sidecar := container(81)
	sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1"},
		Spec: corev1.PodSpec{
			Containers:     []corev1.Container{container(80)},
			InitContainers: []corev1.Container{sidecar},
			NodeSelector:   map[string]string{"disk": "ssd"},
			Overhead:       corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			Priority:       ptr.To(int32(5)),
			Tolerations: []corev1.Toleration{{
				Key: "k", Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: ptr.To(int64(9)),
			}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}}},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector("spread"),
				MinDomains: ptr.To(int32(2)), NodeAffinityPolicy: ptr.To(corev1.NodeInclusionPolicyHonor),
				NodeTaintsPolicy: ptr.To(corev1.NodeInclusionPolicyHonor), MatchLabelKeys: []string{"pod-template-hash"},
			}},
			Affinity: &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{nodeTerm}},
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
						{Weight: 3, Preference: nodeTerm},
					},
				},
				PodAffinity: &corev1.PodAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{podTerm("near")},
					PreferredDuringSchedulingIgnoredDuringExecution: weighted("near"),
				},
				PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{podTerm("away")},
					PreferredDuringSchedulingIgnoredDuringExecution: weighted("away"),
				},
			},
		},
	}
}

// prepare sets what a field needs beside it to have a meaning.
func prepare(pod *corev1.Pod, path string) {
	switch path {
	case "HostUsers":
		pod.Spec.HostNetwork, pod.Spec.HostUsers = true, ptr.To(true)
	case "HostNetwork":
		pod.Spec.HostUsers = ptr.To(false)
	case "Resources.Requests":
		// What a pod requests as a whole is not below what its containers do.
		pod.Spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9")},
		}
	case "Volumes[].VolumeSource.PersistentVolumeClaim.ClaimName":
	default:
		if strings.HasPrefix(path, "Volumes[].VolumeSource.") {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data"}}
		}
	}
	if strings.HasSuffix(path, ".RestartPolicyRules[].Action") {
		field := at(reflect.ValueOf(&pod.Spec), path)
		field.SetString(string(corev1.ContainerRestartRuleActionRestart))
	}
}

// checkTable fails where a leaf has no entry or an entry no leaf.
func checkTable(t *testing.T, table map[string]verdict, paths []string) {
	t.Helper()
	unused := maps.Clone(table)
	for _, path := range paths {
		entry, ok := verdictOn(table, path)
		if !ok {
			t.Errorf("%s: neither mapped, nor refused, nor irrelevant", path)
		}
		delete(unused, entry)
	}
	for _, entry := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("%s: no such field, or all below it have entries of their own", entry)
	}
}

// What Kubernetes adds to a pod is either understood or refused, and never
// placed in silence.
func TestEveryFieldOfAPodHasItsVerdict(t *testing.T) {
	paths := leaves(reflect.TypeFor[corev1.PodSpec](), "")
	checkTable(t, podFields, paths)
	for _, path := range paths {
		entry, ok := verdictOn(podFields, path)
		if !ok || podFields[entry].elsewhere != "" {
			continue
		}
		t.Run(path, func(t *testing.T) {
			pod := wholePod()
			prepare(pod, path)
			before, err := statementOn(pod)
			if err != nil {
				t.Fatal(err)
			}
			change(at(reflect.ValueOf(&pod.Spec), path))
			after, err := statementOn(pod)
			want := podFields[entry]
			if want.refused != "" {
				if err == nil || !strings.Contains(err.Error(), want.refused) {
					t.Fatalf("refused with %v, want %q", err, want.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if changed := !proto.Equal(before, after); changed != (want.irrelevant == "") {
				t.Errorf("told the same: %v, verdict %+v", !changed, want)
			}
		})
	}
}

func TestEveryFieldOfANodeHasItsVerdict(t *testing.T) {
	for _, part := range []struct {
		name  string
		table map[string]verdict
		of    func(*corev1.Node) reflect.Value
	}{
		{"Spec", nodeSpecFields, func(node *corev1.Node) reflect.Value { return reflect.ValueOf(&node.Spec) }},
		{"Status", nodeStatusFields, func(node *corev1.Node) reflect.Value { return reflect.ValueOf(&node.Status) }},
	} {
		paths := leaves(part.of(&corev1.Node{}).Type(), "")
		checkTable(t, part.table, paths)
		for _, path := range paths {
			entry, ok := verdictOn(part.table, path)
			if !ok {
				continue
			}
			t.Run(part.name+"."+path, func(t *testing.T) {
				node := wholeNode()
				before, err := convert.Node(node, nil)
				if err != nil {
					t.Fatal(err)
				}
				change(at(part.of(node), path))
				after, err := convert.Node(node, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := part.table[entry]
				if changed := !proto.Equal(before, after); changed != want.mapped {
					t.Errorf("told the same: %v, verdict %+v", !changed, want)
				}
			})
		}
	}
}

func wholeNode() *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Allocatable: amounts, Capacity: amounts,
			Conditions:       []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}},
			DeclaredFeatures: []string{"RestartAllContainersOnContainerExits"},
		},
	}
}
